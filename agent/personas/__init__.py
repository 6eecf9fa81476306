"""The refined layers above the raw history, and joining with profiles that agreed (Persona-DB).

``grouping`` which memories belong together; ``writing`` the prompts and their parsers; ``guards``
what a line may say; ``categories`` the cache; ``refreshing`` what is due and making it; ``sharing``
persona lines among what an answer reads; ``joining`` other profiles' views, by consent;
``predicting`` which of some options the person would choose. See docs/personas.md.
"""
