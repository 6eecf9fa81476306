"""What memories are used for beside answers: autofill, reminders, travel."""
