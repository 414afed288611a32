"""Real nodes for tests, benches and demonstrations: started, watched, killed, and judged by what
they say.
"""
