(* S1 and M1(a): the soft switch, and attention as a per-token map.                                                 *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From sinkproof Require Import Hulls Switch.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* S1.  v_s = 0 and the distinct content values are independent: u : D -> V lists them, u is an independent family  *)
(* (so it repeats nothing) and each content value is v_j = u (c j).  Weights a >= 0, a content query i.  Then the   *)
(* output lies on the line of v_i iff every weight vanishes except those of the sink and of keys with v_j = v_i.    *)
Theorem S1 (R : realFieldType) (V : lmodType R) (T D : finType) (v : T -> V) (s : T) (u : D -> V) (c : T -> D)
    (a : T -> R) (i : T) :
  v s = 0 -> independent [set: D] u -> (forall j, j != s -> v j = u (c j)) -> (forall j, 0 <= a j) -> i != s ->
  ((exists k, \sum_j a j *: v j = k *: v i) <-> forall j, j != s -> v j != v i -> a j = 0).
Proof.
move=> vs ind vu a0 is_; rewrite (output_content _ vs); split=> [[k h] j js vji|h]; last first.
  exists (\sum_(j in [set~ s] | v j == v i) a j); rewrite scaler_suml [LHS](bigID (fun j => v j == v i)) /=.
  rewrite [X in _ + X]big1 ?addr0 => [|j /andP[]]; last by rewrite !inE => js /h ->; rewrite ?scale0r.
  by apply: eq_bigr => j /andP[_ /eqP ->].
(* Collect the weights by value; the class of v_j carries total weight 0. *)
pose m e := \sum_(l in [set~ s] | c l == e) a l - (e == c i)%:R * k.
have collect : \sum_(e in [set: D]) m e *: u e = 0.
  have one : \sum_(e in [set: D]) ((e == c i)%:R * k) *: u e = k *: v i.
    rewrite (bigD1 (c i)) ?inE //= eqxx mul1r -vu // big1 ?addr0 // => e /andP[_ /negbTE ->].
    by rewrite mul0r scale0r.
  rewrite (eq_bigr _ (fun e _ => scalerBl _ _ _)) sumrB one -h.
  rewrite (partition_big c (mem [set: D])) /=; last by move=> l _; rewrite inE.
  apply/eqP; rewrite subr_eq0; apply/eqP; apply: eq_bigr => e _; rewrite scaler_suml.
  by apply: eq_bigr => l /andP[]; rewrite !inE => ls /eqP <-; rewrite vu.
have cji : c j != c i by apply: contra_neq vji => e; rewrite !vu // e.
have /eqP := ind m collect (c j) (in_setT _).
rewrite /m (negbTE cji) mul0r subr0 psumr_eq0 // => /allP /(_ j (mem_index_enum j)).
by rewrite !inE js eqxx => /eqP.
Qed.

Lemma S1_satisfiable (R : realFieldType) :
  exists (v : bool -> 'rV[R]_1) (u : unit -> 'rV[R]_1) (c : bool -> unit),
    [/\ v true = 0, independent [set: unit] u & forall j, j != true -> v j = u (c j)].
Proof.
exists (fun t => if t then 0 else const_mx 1), (fun=> const_mx 1), (fun=> tt); split=> // [w h [] _|[]//].
move/rowP: h => /(_ 0); rewrite (big_pred1 tt) => [|[]]; last by rewrite inE.
by rewrite !mxE mulr1.
Qed.

(* M1(a), one row.  Fixed attention A, any value map V, any normalisation Norm.  If row i is supported on i and the *)
(* sink s, two inputs that agree at i and at s give the same output at i.                                           *)
Theorem M1a_row (F : fieldType) (d : nat) (T : finType) (A : T -> T -> F) (V : 'M[F]_d) (Norm : 'rV[F]_d -> 'rV[F]_d)
    (s i : T) (x x' : T -> 'rV[F]_d) :
  (forall j, j != i -> j != s -> A i j = 0) -> x i = x' i -> x s = x' s ->
  Norm (x i + \sum_j A i j *: (x j *m V)) = Norm (x' i + \sum_j A i j *: (x' j *m V)).
Proof.
move=> support ei es; rewrite ei; congr (Norm (_ + _)); apply: eq_bigr => j _.
have [->|ji] := eqVneq j i; first by rewrite ei.
have [->|js] := eqVneq j s; first by rewrite es.
by rewrite support // !scale0r.
Qed.

(* M1(a), one map.  Row sums 1, every content row supported on itself and the sink with the same diagonal weight t  *)
(* (diagonal t = 1, sink t = 0, any mixture), the sink's embedding xs fixed: one map f : R^d -> R^d gives the       *)
(* output of every content token of every input.                                                                    *)
Theorem M1a (F : fieldType) (d : nat) (T : finType) (A : T -> T -> F) (V : 'M[F]_d) (Norm : 'rV[F]_d -> 'rV[F]_d)
    (s : T) (t : F) (xs : 'rV[F]_d) :
  (forall i, \sum_j A i j = 1) -> (forall i j, i != s -> j != i -> j != s -> A i j = 0) ->
  (forall i, i != s -> A i i = t) ->
  exists f : 'rV[F]_d -> 'rV[F]_d, forall (x : T -> 'rV[F]_d), x s = xs ->
    forall i, i != s -> Norm (x i + \sum_j A i j *: (x j *m V)) = f (x i).
Proof.
move=> rows support diag.
exists (fun y => Norm (y + (t *: (y *m V) + (1 - t) *: (xs *m V)))) => x xsE i is_; congr (Norm (_ + _)).
have two (M : lmodType F) (f : T -> M) : (forall j, j != i -> j != s -> f j = 0) -> \sum_j f j = f i + f s.
  move=> f0; rewrite (bigD1 i) //= (bigD1 s) 1?eq_sym //= big1 ?addr0 // => j /andP[ji js].
  exact: f0.
have Ais : A i s = 1 - t.
  rewrite -(rows i) (two _ (fun j => A i j : F^o)) ?diag // => [|j ji js]; first by rewrite addrC addKr.
  exact: support.
by rewrite two ?diag ?Ais ?xsE // => j ji js; rewrite support ?scale0r.
Qed.

Lemma M1a_satisfiable (F : fieldType) (t : F) :
  exists A : bool -> bool -> F, [/\ forall i, \sum_j A i j = 1,
    forall i j, i != true -> j != i -> j != true -> A i j = 0 & forall i, i != true -> A i i = t].
Proof.
exists (fun i j : bool => if i then j%:R else if j then 1 - t else t); split=> [[]|[] []|[]] //.
  by rewrite big_bool /= addr0.
by rewrite big_bool /= subrK.
Qed.
