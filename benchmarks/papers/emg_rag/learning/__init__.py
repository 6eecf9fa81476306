"""What the walk learns from: rewards, corrections, questions, and what a training costs."""
