"""The PLUTO algorithm: hyperplanes that make loops permutable and dependences short.

References: Bondhugula, Hartono, Ramanujam, Sadayappan, "A practical automatic polyhedral
parallelizer and locality optimizer", PLDI 2008; Bondhugula's thesis, Ohio State University, 2008.
"""
