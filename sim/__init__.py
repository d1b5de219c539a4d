"""What is simulated around rtlgen and is no part of it: bench modules, models and small designs."""
