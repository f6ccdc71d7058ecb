"""What `report.html` is made of: the template, style and script, and the functions that prepare their data.

`notes` is a link to the notes of the repository, which a built package holds as a copy: the page takes pictures, the
claims' pages and "what must be trusted" from there, and there is no second text of them.
"""
