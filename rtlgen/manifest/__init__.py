"""manifest.json: what a build directory holds, how to drive its circuit, what is where off chip."""
