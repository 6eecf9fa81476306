"""The two layers of the walks and how they learn: ``mlp`` and ``reinforce``."""
