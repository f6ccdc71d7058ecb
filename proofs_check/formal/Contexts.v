(* E5 and E6: several contexts identify the sink; an optimal copying head has no other switch.  Over any field.     *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From sinkproof Require Import Switch.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* E5.  Keys T with sink s, values v, the content values independent as a family.  Contexts C (at least one), the   *)
(* context r uses the keys S r; its weights a r vanish outside S r, sum to 1 (signs free) and give output 0.  The   *)
(* content parts have empty common intersection: every content key is missing from some context.  Then v_s = 0 and  *)
(* every weight vector is e_s.                                                                                      *)
Theorem E5 (F : fieldType) (V : lmodType F) (T C : finType) (v : T -> V) (s : T) (S : C -> {set T}) (a : C -> T -> F) :
  independent [set~ s] v -> (0 < #|C|)%N ->
  (forall r j, j \notin S r -> a r j = 0) -> (forall r, \sum_j a r j = 1) -> (forall r, \sum_j a r j *: v j = 0) ->
  (forall j, j != s -> exists r, j \notin S r) ->
  v s = 0 /\ forall r j, a r j = (j == s)%:R.
Proof.
move=> ind /card_gt0P[r0 _] supp a1 a0 miss.
(* Content weights are the same in any two contexts after scaling by the sink weights. *)
have cross r r' j : j \in [set~ s] -> a r' s * a r j = a r s * a r' j.
  move=> jC; apply/eqP; rewrite -subr_eq0; apply/eqP.
  apply: (ind (fun l => a r' s * a r l - a r s * a r' l)) jC.
  have split t : a t s *: v s = - \sum_(l in [set~ s]) a t l *: v l.
    apply/eqP; rewrite -addr_eq0; apply/eqP; rewrite -[RHS](a0 t) [RHS](bigD1 s) //=; congr (_ + _).
    by apply: eq_bigl => l; rewrite !inE.
  rewrite (eq_bigr (fun l => a r' s *: (a r l *: v l) - a r s *: (a r' l *: v l))); last first.
    by move=> l _; rewrite scalerBl !scalerA.
  rewrite sumrB -!scaler_sumr; apply/eqP; rewrite subr_eq0 -eqr_opp -!scalerN -!split !scalerA.
  by rewrite mulrC.
(* A sink weight 0 would make the content weights vanish, against the sum 1. *)
have as0 r : a r s != 0.
  apply/eqP => z; have /eqP := oner_neq0 F; apply; rewrite -(a1 r) (mass_content s) z add0r big1 // => j jC.
  apply: (ind (a r)) jC; rewrite -[RHS](a0 r) [RHS](bigD1 s) //= z scale0r add0r.
  by apply: eq_bigl => l; rewrite !inE.
have content r j : j \in [set~ s] -> a r j = 0.
  move=> jC; have js : j != s by move: jC; rewrite !inE.
  have [r' jr'] := miss j js; have := cross r r' j jC; rewrite (supp r' j jr') mulr0 => /eqP.
  by rewrite mulf_eq0 (negbTE (as0 r')) => /eqP.
have on r := all_on_sink (a1 r) (content r); split; last exact: on.
rewrite -(a0 r0) (bigD1 s) //= big1 ?addr0 => [|j js]; last by rewrite on (negbTE js) scale0r.
by rewrite on eqxx scale1r.
Qed.

(* E5 is sharp: a content key c in every context allows v_s = -v_c with weights 1/2 and 1/2. *)
Theorem E5_sharp (F : fieldType) (V : lmodType F) (w : V) : 2%:R != 0 :> F ->
  let v (t : bool) := if t then - w else w in
  let a (t : bool) : F := 2%:R^-1 in
  \sum_j a j = 1 /\ \sum_j a j *: v j = 0.
Proof.
move=> two v a; rewrite !big_bool /=; split; last by rewrite scalerN addNr.
by rewrite -mulr2n -(mulr_natl _ 2) divff.
Qed.

(* E6.  The value matrix VV has rows v_s (row 0), v_1, ..., v_n.  The n targets, rows of t, are independent and     *)
(* each is a combination of the rows of VV (t = B VV, any weights).  Contexts C (at least one) with weights on S r, *)
(* sum 1 (signs free), output 0, no content key in all of them.  Then every weight vector is e_s, v_s = 0 and       *)
(* v_1, ..., v_n are independent.                                                                                   *)
Theorem E6 (F : fieldType) (n d : nat) (VV : 'M[F]_(n.+1, d)) (t : 'M[F]_(n, d)) (B : 'M[F]_(n, n.+1))
    (C : finType) (S : C -> {set 'I_n.+1}) (a : C -> 'rV[F]_n.+1) :
  row_free t -> t = B *m VV -> (0 < #|C|)%N ->
  (forall r j, j \notin S r -> a r 0 j = 0) -> (forall r, \sum_j a r 0 j = 1) -> (forall r, a r *m VV = 0) ->
  (forall j, j != ord0 -> exists r, j \notin S r) ->
  [/\ forall r j, a r 0 j = (j == ord0)%:R, row ord0 VV = 0 & row_free (row' ord0 VV)].
Proof.
move=> tfree tB /card_gt0P[r0 _] supp a1 a0 miss.
have rankt : \rank t = n by apply/eqP.
(* The rank of VV is at least n, so its relations form at most a line. *)
have rankV : (n <= \rank VV)%N.
  by apply: leq_trans (_ : \rank t <= _)%N; [rewrite rankt | rewrite tB mxrankM_maxr].
have ker1 : (\rank (kermx VV) <= 1)%N by rewrite mxrank_ker leq_subLR addn1 ltnS.
have inker r : (a r <= kermx VV)%MS by apply/sub_kermxP.
have anz r : a r != 0.
  apply/eqP => z; have /eqP := oner_neq0 F; apply; rewrite -(a1 r) big1 // => j _.
  by rewrite z mxE.
have same r r' : a r = a r'.
  have : (kermx VV <= a r')%MS.
    have [_] := mxrank_leqif_sup (inker r'); rewrite rank_rV anz => <-.
    by rewrite eqn_leq ker1 andbT -[X in (X <= _)%N](_ : \rank (a r') = 1%N) ?mxrankS ?rank_rV ?anz.
  move/(submx_trans (inker r))/sub_rVP => [k e].
  have := a1 r; rewrite e (eq_bigr (fun j => k * a r' 0 j)) => [|j _]; last by rewrite mxE.
  by rewrite -mulr_sumr a1 mulr1 => ->; rewrite scale1r.
have on r j : a r 0 j = (j == ord0)%:R.
  apply: (@all_on_sink F _ ord0 (fun l => a r 0 l)) => // l; rewrite !inE => l0.
  by have [r' lr'] := miss l l0; rewrite (same r r') supp.
have v0 : row ord0 VV = 0.
  have := a0 r0; suff -> : a r0 = delta_mx 0 ord0 by rewrite -rowE.
  by apply/rowP => j; rewrite on !mxE.
split=> //; rewrite /row_free eqn_leq rank_leq_row /=; apply: leq_trans (_ : \rank t <= _)%N; first by rewrite rankt.
have -> : t = col' ord0 B *m row' ord0 VV.
  rewrite tB; apply/matrixP => i k; rewrite !mxE big_ord_recl.
  have -> : VV ord0 k = 0 by have /rowP /(_ k) := v0; rewrite !mxE.
  by rewrite mulr0 add0r; apply: eq_bigr => j _; rewrite !mxE.
exact: mxrankM_maxr.
Qed.

(* The hypotheses of E6 (and with them those of E5) can be met: one content key, values 0 and 1, one context {s}. *)
Lemma E6_satisfiable (F : fieldType) :
  exists (VV : 'M[F]_(2, 1)) (t : 'M[F]_(1, 1)) (B : 'M[F]_(1, 2)) (a : unit -> 'rV[F]_2),
    [/\ row_free t, t = B *m VV, forall r j, j \notin [set ord0] -> a r 0 j = 0, forall r, \sum_j a r 0 j = 1
      & forall r, a r *m VV = 0].
Proof.
exists (delta_mx 1 0), 1%:M, (delta_mx 0 1), (fun=> delta_mx 0 0); split=> [||r j|r|r].
- by rewrite row_free_unit unitmx1.
- by rewrite mul_delta_mx; apply/matrixP => i j; rewrite !ord1 !mxE.
- by rewrite inE mxE => /negbTE ->.
- by rewrite !big_ord_recl big_ord0 !mxE /= !addr0.
- by rewrite mul_delta_mx_0.
Qed.

Lemma E5_satisfiable (F : fieldType) :
  exists (v : bool -> 'rV[F]_1) (a : unit -> bool -> F),
    [/\ independent [set~ true] v, forall r j, j \notin [set true] -> a r j = 0, forall r, \sum_j a r j = 1
      & forall r, \sum_j a r j *: v j = 0].
Proof.
exists (fun t => if t then 0 else const_mx 1), (fun _ t => t%:R); split=> [c h i|r j|r|r].
- rewrite !inE => it; move/rowP: h => /(_ 0); rewrite (big_pred1 false) => [|[]]; rewrite ?inE //.
  by rewrite !mxE mulr1; case: i it.
- by rewrite inE; case: j.
- by rewrite big_bool /= addr0.
- by rewrite big_bool /= scaler0 scale0r addr0.
Qed.
