from __future__ import annotations

import pytest

from proofs_check.formal.vernacular import blank_comments_and_strings, escapes, imports, sentences

CLEAN = """(* Axiom a : False. *)
Section S.
Variable n : nat.
Hypothesis h : n = 1.
Lemma l : n.+1 = 2. Proof. by rewrite h. Qed.
End S.
Definition text := "Admitted. (* Axiom".
"""


def test_a_clean_source_has_no_escape():
    assert escapes(CLEAN) == ()


@pytest.mark.parametrize(
    ("addition", "word"),
    [
        ("Lemma f : False. Admitted.", "Admitted"),
        ("Lemma f : False. Proof. admit. Qed.", "admit"),
        ("Lemma f : False. Proof. give_up. Qed.", "give_up"),
        ("Axiom f : False.", "Axiom"),
        ("Local Axiom f : False.", "Axiom"),
        ("#[local] Axioms f g : False.", "Axioms"),
        ("Parameter f : False.", "Parameter"),
        ("Parameters f g : False.", "Parameters"),
        ("Conjecture f : False.", "Conjecture"),
        ("Module Type T. End T.", "Module Type"),
        ("Module Type T. Parameter f : False. End T. Declare Module M : T.", "Declare"),
        ("Variable f : False.", "Variable"),
        ("Variables f g : False.", "Variables"),
        ("Hypothesis f : False.", "Hypothesis"),
        ("#[global] Hypothesis f : False.", "Hypothesis"),
        ("Context (f : False).", "Context"),
        ("Module M. Variable f : False. End M.", "Variable"),
        ("Unset Guard Checking.", "Guard Checking"),
        ("Unset  Positivity\n Checking.", "Positivity Checking"),
        ("#[local] Unset Universe Checking.", "Universe Checking"),
        ("#[bypass_check(guard)] Fixpoint f (n : nat) : False := f n.", "bypass_check"),
        ('Add LoadPath "x".', "LoadPath"),
        ('Load "x".', "Load"),
        ("Primitive f := #int63_add.", "Primitive"),
        ("Symbol f : nat -> nat.", "Symbol"),
        ("Symbols f g : False.", "Symbols"),
        ("Rewrite Rule r := f 0 => 1.", "Rewrite Rule"),
        ("#[local] Rewrite Rules r := f 0 => 1.", "Rewrite Rules"),
    ],
)
def test_each_escape_is_found_on_its_line(addition: str, word: str):
    found = escapes(CLEAN + addition)
    assert any(word in sentence for sentence in found)
    assert found[0].startswith("line 8")


def test_a_section_that_was_closed_no_longer_covers_a_variable():
    assert escapes("Section A. End A. Variable x : nat.")
    assert not escapes("Section A. Module B. Variable x : nat. End B. End A.")


def test_a_comment_may_nest_and_hold_strings():
    text = 'a (* b (* c *) "*)" d\n *) e'
    assert blank_comments_and_strings(text).split() == ["a", "e"]
    assert blank_comments_and_strings(text).count("\n") == 1


def test_blanking_keeps_every_position():
    text = 'x "a""b" (* c *) y'
    blank = blank_comments_and_strings(text)
    assert len(blank) == len(text) and blank.index("y") == text.index("y")


@pytest.mark.parametrize("text", ["(* open", 'Check "open', '(* "*) '])
def test_an_unfinished_comment_or_string_is_an_escape(text: str):
    assert "does not end" in escapes(text)[0]


def test_a_full_stop_inside_a_name_ends_no_sentence():
    heads = [s.words[0] for s in sentences("Check Nat.add. Check x.1.\nPrint a.")]
    assert heads == ["Check", "Check", "Print"]
    assert [s.line for s in sentences("Check a.\n\nPrint\nb.")] == [1, 3]


def test_imports_of_the_library_are_read_and_others_are_not():
    text = "From mathcomp Require Import ring.\nFrom sinkproof Require Import Hulls Geometry.\n"
    text += "(* From sinkproof Require Import X. *)"
    assert imports(text, "sinkproof") == ("Hulls", "Geometry")
