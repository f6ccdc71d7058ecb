(* Pairs of dual norms, and C0.

   "N(W) <= c" is written le W c, and "N*(G) <= s" is written dle G s, so that the nuclear and the
   spectral norm need no singular values: N is nuclear-bounded by c when W is a sum of rank-one terms
   p q^T with sum |p||q| <= c, spectral-bounded by s when |u^T G v| <= s|u||v| for all u, v. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Inner.
Variable R : rcfType.

Definition dot n (u v : 'cV[R]_n) : R := (u^T *m v) 0 0.
Definition norm n (u : 'cV[R]_n) : R := Num.sqrt (dot u u).
(* <G,W> = tr(G^T W), and the Frobenius norm. *)
Definition inner m n (G W : 'M[R]_(m, n)) : R := \tr (G^T *m W).
Definition frobenius m n (W : 'M[R]_(m, n)) : R := Num.sqrt (inner W W).

(* Cauchy-Schwarz for finite sums. *)
Lemma cauchy (I : finType) (a b : I -> R) :
  \sum_i a i * b i <= Num.sqrt (\sum_i a i ^+ 2) * Num.sqrt (\sum_i b i ^+ 2).
Proof.
have pos (f : I -> R) : 0 <= \sum_i f i ^+ 2 by apply: sumr_ge0 => i _; apply: sqr_ge0.
set s := Num.sqrt (\sum_i a i ^+ 2); set t := Num.sqrt (\sum_i b i ^+ 2).
have s2 : s ^+ 2 = \sum_i a i ^+ 2 by apply: sqr_sqrtr.
have t2 : t ^+ 2 = \sum_i b i ^+ 2 by apply: sqr_sqrtr.
have vanish (f g : I -> R) : \sum_i f i ^+ 2 = 0 -> \sum_i f i * g i = 0.
  move/eqP; rewrite psumr_eq0 => [/allP f0 | i _]; last exact: sqr_ge0.
  by apply: big1 => i _; have /implyP := f0 i (mem_index_enum i); rewrite sqrf_eq0 => /(_ isT)/eqP->; rewrite mul0r.
have [s0|s0] := eqVneq s 0.
  by rewrite s0 mul0r vanish // -s2 s0 expr0n.
have [t0|t0] := eqVneq t 0.
  by rewrite t0 mulr0; under eq_bigr do rewrite mulrC; rewrite vanish // -t2 t0 expr0n.
have st : 0 < s * t by rewrite mulr_gt0 // lt0r ?s0 ?t0 sqrtr_ge0.
have : 0 <= \sum_i (t * a i - s * b i) ^+ 2 by apply: pos.
have -> : \sum_i (t * a i - s * b i) ^+ 2 = 2 * (s * t) * (s * t - \sum_i a i * b i).
  transitivity (t ^+ 2 * (\sum_i a i ^+ 2) - 2 * (s * t) * (\sum_i a i * b i) + s ^+ 2 * (\sum_i b i ^+ 2)).
    rewrite !mulr_sumr -sumrB -big_split /=; apply: eq_bigr => i _; ring.
  by rewrite -s2 -t2; ring.
by rewrite pmulr_rge0 ?subr_ge0 // mulr_gt0 ?ltr0n.
Qed.

Lemma dotE n (u v : 'cV[R]_n) : dot u v = \sum_i u i 0 * v i 0.
Proof. by rewrite /dot mxE; apply: eq_bigr => i _; rewrite mxE. Qed.
Lemma innerE m n (G W : 'M[R]_(m, n)) : inner G W = \sum_p G p.1 p.2 * W p.1 p.2.
Proof.
rewrite -(pair_bigA _ (fun i j => G i j * W i j)) exchange_big /=.
by apply: eq_bigr => j _; rewrite mxE; apply: eq_bigr => i _; rewrite mxE.
Qed.

Lemma dotC n (u v : 'cV[R]_n) : dot u v = dot v u.
Proof. by rewrite !dotE; apply: eq_bigr => i _; rewrite mulrC. Qed.
Lemma dotDl n (u v w : 'cV[R]_n) : dot (u + v) w = dot u w + dot v w.
Proof. by rewrite /dot linearD mulmxDl mxE. Qed.
Lemma dotZl n c (u w : 'cV[R]_n) : dot (c *: u) w = c * dot u w.
Proof. by rewrite /dot linearZ -scalemxAl mxE. Qed.
Lemma dotDr n (u v w : 'cV[R]_n) : dot w (u + v) = dot w u + dot w v.
Proof. by rewrite /dot mulmxDr mxE. Qed.
Lemma dotZr n c (u w : 'cV[R]_n) : dot w (c *: u) = c * dot w u.
Proof. by rewrite /dot -scalemxAr mxE. Qed.
Lemma dot0l n (w : 'cV[R]_n) : dot 0 w = 0.
Proof. by rewrite /dot trmx0 mul0mx mxE. Qed.
Lemma dot_suml n (I : Type) (r : seq I) (P : pred I) (f : I -> 'cV[R]_n) w :
  dot (\sum_(i <- r | P i) f i) w = \sum_(i <- r | P i) dot (f i) w.
Proof. exact: (big_morph (fun u => dot u w) (fun u v => dotDl u v w) (dot0l w)). Qed.
Lemma dot_sumr n (I : Type) (r : seq I) (P : pred I) (f : I -> 'cV[R]_n) w :
  dot w (\sum_(i <- r | P i) f i) = \sum_(i <- r | P i) dot w (f i).
Proof. by rewrite dotC dot_suml; apply: eq_bigr => i _; rewrite dotC. Qed.

Lemma dot_ge0 n (u : 'cV[R]_n) : 0 <= dot u u.
Proof. by rewrite dotE; apply: sumr_ge0 => i _; rewrite -expr2 sqr_ge0. Qed.
Lemma dot_eq0 n (u : 'cV[R]_n) : (dot u u == 0) = (u == 0).
Proof.
apply/eqP/eqP => [|->]; last by rewrite dot0l.
rewrite dotE => /eqP; rewrite psumr_eq0 => [/allP u0|i _]; last by rewrite -expr2 sqr_ge0.
apply/matrixP => i j; rewrite ord1 mxE; apply/eqP.
by have /implyP := u0 i (mem_index_enum i); rewrite mulf_eq0 orbb => /(_ isT).
Qed.
Lemma norm_ge0 n (u : 'cV[R]_n) : 0 <= norm u. Proof. exact: sqrtr_ge0. Qed.
Lemma norm_sqr n (u : 'cV[R]_n) : norm u ^+ 2 = dot u u.
Proof. by rewrite sqr_sqrtr ?dot_ge0. Qed.
Lemma norm_gt0 n (u : 'cV[R]_n) : (0 < norm u) = (u != 0).
Proof. by rewrite sqrtr_gt0 lt0r dot_eq0 dot_ge0 andbT. Qed.
Lemma norm_eq0 n (u : 'cV[R]_n) : (norm u == 0) = (u == 0).
Proof. by rewrite -sqrf_eq0 norm_sqr dot_eq0. Qed.
Lemma normZ n c (u : 'cV[R]_n) : norm (c *: u) = `|c| * norm u.
Proof. by rewrite /norm dotZl dotZr mulrA -expr2 sqrtrM ?sqr_ge0 // sqrtr_sqr. Qed.
Lemma dot_le n (u v : 'cV[R]_n) : `|dot u v| <= norm u * norm v.
Proof.
have le (a b : 'cV[R]_n) : dot a b <= norm a * norm b.
  by rewrite /norm !dotE; under [X in _ <= Num.sqrt X * _]eq_bigr do rewrite -expr2;
     under [X in _ <= _ * Num.sqrt X]eq_bigr do rewrite -expr2; apply: cauchy.
rewrite ler_norml le andbT ler_oppl -mulN1r -dotZl; apply: le_trans (le _ _) _.
by rewrite normZ normrN1 mul1r.
Qed.

Lemma innerDl m n (F G W : 'M[R]_(m, n)) : inner (F + G) W = inner F W + inner G W.
Proof. by rewrite /inner linearD mulmxDl linearD. Qed.
Lemma innerZl m n c (G W : 'M[R]_(m, n)) : inner (c *: G) W = c * inner G W.
Proof. by rewrite /inner linearZ -scalemxAl linearZ. Qed.
Lemma innerC m n (G W : 'M[R]_(m, n)) : inner G W = inner W G.
Proof. by rewrite !innerE; apply: eq_bigr => p _; rewrite mulrC. Qed.
Lemma inner0l m n (W : 'M[R]_(m, n)) : inner 0 W = 0.
Proof. by rewrite /inner trmx0 mul0mx linear0. Qed.
Lemma inner_suml m n (I : Type) (r : seq I) (P : pred I) (f : I -> 'M[R]_(m, n)) W :
  inner (\sum_(i <- r | P i) f i) W = \sum_(i <- r | P i) inner (f i) W.
Proof. exact: (big_morph (fun u => inner u W) (fun u v => innerDl u v W) (inner0l W)). Qed.
Lemma inner_ge0 m n (W : 'M[R]_(m, n)) : 0 <= inner W W.
Proof. by rewrite innerE; apply: sumr_ge0 => p _; rewrite -expr2 sqr_ge0. Qed.
Lemma frobenius_sqr m n (W : 'M[R]_(m, n)) : frobenius W ^+ 2 = inner W W.
Proof. by rewrite sqr_sqrtr ?inner_ge0. Qed.
(* <q k^T, W> = q^T W k. *)
Lemma inner_rank1 m n q k (W : 'M[R]_(m, n)) : inner (q *m k^T) W = dot q (W *m k).
Proof. by rewrite /inner /dot trmx_mul trmxK -mulmxA mxtrace_mulC trace_mx11 mulmxA. Qed.
Lemma inner_le m n (G W : 'M[R]_(m, n)) : `|inner G W| <= frobenius W * frobenius G.
Proof.
have le (F E : 'M[R]_(m, n)) : inner F E <= frobenius F * frobenius E.
  by rewrite /frobenius !innerE; under [X in _ <= Num.sqrt X * _]eq_bigr do rewrite -expr2;
     under [X in _ <= _ * Num.sqrt X]eq_bigr do rewrite -expr2; apply: cauchy.
rewrite ler_norml [frobenius W * _]mulrC le andbT ler_oppl -mulN1r -innerZl; apply: le_trans (le _ _) _.
by rewrite /frobenius innerZl innerC innerZl mulrA mulrNN mulr1 mul1r.
Qed.
End Inner.

(* All that the bounds use of a norm N and its dual N*. *)
Record dual_pair (R : rcfType) m n (le dle : 'M[R]_(m, n) -> R -> Prop) : Prop := DualPair {
  pairing : forall W c G s, le W c -> dle G s -> `|inner G W| <= c * s;
  le_rank1 : forall (q : 'cV_m) (k : 'cV_n), le (q *m k^T) (norm q * norm k);
  dle_rank1 : forall (q : 'cV_m) (k : 'cV_n), dle (q *m k^T) (norm q * norm k) }.

Section Pairs.
Variables (R : rcfType) (m n : nat).
Implicit Types (G W : 'M[R]_(m, n)).

Definition frobenius_le W (c : R) := frobenius W <= c.
Definition spectral_le W (c : R) :=
  0 <= c /\ forall (u : 'cV_m) (v : 'cV_n), `|dot u (W *m v)| <= c * (norm u * norm v).
Definition nuclear_le W (c : R) := exists r (p : 'I_r -> 'cV[R]_m) (q : 'I_r -> 'cV[R]_n),
  W = \sum_k p k *m (q k)^T /\ \sum_k norm (p k) * norm (q k) <= c.

(* Two functions N, N* with |<G,W>| <= N(W) N*(G) and the cross-norm property form a dual pair. *)
Lemma dual_pair_norms (N Nd : 'M[R]_(m, n) -> R) :
  (forall W, 0 <= N W) -> (forall G, 0 <= Nd G) ->
  (forall G W, `|inner G W| <= N W * Nd G) ->
  (forall q k, N (q *m k^T) = norm q * norm k) -> (forall q k, Nd (q *m k^T) = norm q * norm k) ->
  dual_pair (fun W c => N W <= c) (fun G s => Nd G <= s).
Proof.
move=> N0 Nd0 h r dr; split=> [W c G s Wc Gs|q k|q k]; rewrite ?r ?dr //.
by apply: le_trans (h G W) _; apply: ler_pmul.
Qed.

Lemma frobenius_rank1 (q : 'cV[R]_m) (k : 'cV[R]_n) : frobenius (q *m k^T) = norm q * norm k.
Proof.
rewrite /frobenius inner_rank1 -mulmxA [k^T *m k]mx11_scalar mul_mx_scalar dotZr.
by rewrite mulrC sqrtrM ?dot_ge0.
Qed.

Lemma frobenius_pair : dual_pair frobenius_le frobenius_le.
Proof.
apply: dual_pair_norms; try by move=> *; apply: sqrtr_ge0.
- exact: inner_le.
- exact: frobenius_rank1.
- exact: frobenius_rank1.
Qed.

Lemma spectral_rank1 (q : 'cV[R]_m) (k : 'cV[R]_n) : spectral_le (q *m k^T) (norm q * norm k).
Proof.
split=> [|u v]; first by rewrite mulr_ge0 ?norm_ge0.
rewrite -mulmxA [k^T *m v]mx11_scalar mul_mx_scalar dotZr normrM -/(dot k v).
apply: (@le_trans _ _ (norm k * norm v * (norm u * norm q))).
  by apply: ler_pmul; rewrite ?normr_ge0 ?dot_le.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

Lemma nuclear_rank1 (q : 'cV[R]_m) (k : 'cV[R]_n) : nuclear_le (q *m k^T) (norm q * norm k).
Proof. by exists 1%N, (fun=> q), (fun=> k); rewrite !big_ord1. Qed.

Lemma spectral_nuclear G W s c : nuclear_le W c -> spectral_le G s -> `|inner G W| <= c * s.
Proof.
move=> [r [p [q [-> le_c]]]] [s0 Gs]; rewrite innerC inner_suml.
apply: le_trans (ler_norm_sum _ _ _) _; rewrite mulrC.
apply: le_trans (ler_wpmul2l s0 le_c); rewrite mulr_sumr; apply: ler_sum => k _.
by rewrite inner_rank1.
Qed.

Lemma nuclear_pair : dual_pair nuclear_le spectral_le.
Proof.
by split=> [W c G s Wc Gs||]; [apply: spectral_nuclear | apply: nuclear_rank1 | apply: spectral_rank1].
Qed.

Lemma spectral_pair : dual_pair spectral_le nuclear_le.
Proof.
split=> [W c G s Wc Gs||]; [|exact: spectral_rank1|exact: nuclear_rank1].
by rewrite innerC mulrC; apply: spectral_nuclear.
Qed.
End Pairs.

Section C0.
Variable R : rcfType.

Lemma rows_sum r m n (A : 'M[R]_(r, m)) (B : 'M[R]_(r, n)) :
  A^T *m B = \sum_k (row k A)^T *m ((row k B)^T)^T.
Proof.
apply/matrixP => i j; rewrite mxE summxE; apply: eq_bigr => k _.
by rewrite !mxE big_ord1 !mxE.
Qed.

Lemma frobenius_rows r m (A : 'M[R]_(r, m)) : frobenius A ^+ 2 = \sum_k norm (row k A)^T ^+ 2.
Proof.
rewrite frobenius_sqr innerE -(pair_bigA _ (fun i j => A i j * A i j)) /=; apply: eq_bigr => k _.
by rewrite norm_sqr dotE; apply: eq_bigr => j _; rewrite !mxE.
Qed.

(* C0's inequality: for A^T B = W and every G of spectral norm at most 1,
   <G,W> <= (|A|_F^2 + |B|_F^2)/2: the factors cost at least the nuclear norm. *)
Theorem C0 r m n (A : 'M[R]_(r, m)) (B : 'M[R]_(r, n)) (W G : 'M[R]_(m, n)) :
  A^T *m B = W -> spectral_le G 1 ->
  inner G W <= (frobenius A ^+ 2 + frobenius B ^+ 2) / 2.
Proof.
move=> <- [_ G1]; rewrite rows_sum innerC inner_suml !frobenius_rows -big_split /= mulr_suml.
apply: ler_sum => k _; rewrite inner_rank1.
have := le_trans (ler_norm _) (G1 (row k A)^T (row k B)^T); rewrite mul1r => /le_trans; apply.
rewrite ler_pdivl_mulr ?ltr0n // -subr_ge0.
rewrite (_ : _ - _ = (norm (row k A)^T - norm (row k B)^T) ^+ 2) ?sqr_ge0 //; ring.
Qed.

(* ... and a sum of r rank-one terms of total c is a product with inner dimension r at cost c;
   with the terms of a singular value decomposition, c is the nuclear norm. *)
Theorem C0_attained r m n (p : 'I_r -> 'cV[R]_m) (q : 'I_r -> 'cV[R]_n) :
  exists (A : 'M[R]_(r, m)) (B : 'M[R]_(r, n)), A^T *m B = \sum_k p k *m (q k)^T
    /\ (frobenius A ^+ 2 + frobenius B ^+ 2) / 2 = \sum_k norm (p k) * norm (q k).
Proof.
pose t k := Num.sqrt (norm (q k) / norm (p k)).
have t2 k : t k ^+ 2 = norm (q k) / norm (p k) by rewrite sqr_sqrtr ?divr_ge0 ?norm_ge0.
have rowA k : (row k (\matrix_(k, i) (t k * p k i 0)))^T = t k *: p k.
  by apply/matrixP => i j; rewrite !mxE ord1.
have rowB k : (row k (\matrix_(k, j) ((t k)^-1 * q k j 0)))^T = (t k)^-1 *: q k.
  by apply/matrixP => i j; rewrite !mxE ord1.
exists (\matrix_(k, i) (t k * p k i 0)), (\matrix_(k, j) ((t k)^-1 * q k j 0)); split.
  rewrite rows_sum; apply: eq_bigr => k _.
  rewrite rowA rowB linearZ /= -scalemxAl -scalemxAr scalerA.
  have [t0|tN0] := eqVneq (t k) 0; last by rewrite mulfV // scale1r.
  rewrite t0 mul0r scale0r; have /eqP := t2 k; rewrite t0 expr0n eq_sym mulf_eq0 invr_eq0 !norm_eq0.
  by move=> /orP[]/eqP->; rewrite ?trmx0 ?mulmx0 ?mul0mx.
rewrite !frobenius_rows -big_split /= mulr_suml; apply: eq_bigr => k _.
rewrite rowA rowB !norm_sqr !dotZl !dotZr !mulrA -!expr2 exprVn t2 -!norm_sqr invf_div.
have half (x : R) : (x + x) / 2 = x by rewrite -mulr2n -mulr_natr mulfK ?pnatr_eq0.
have cancel (x y : R) : y / x * x ^+ 2 = y * x.
  by have [->|xN0] := eqVneq x 0; rewrite ?expr0n ?mulr0 // expr2 mulrA divfK.
by rewrite !cancel [norm (q k) * _]mulrC half.
Qed.
End C0.
