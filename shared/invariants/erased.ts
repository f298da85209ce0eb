import type { AnchorVersion } from '../runs/anchors.ts'
import { type ErasureRecord, proofOf } from '../runs/erasure.ts'
import type { Checked } from './check-run.ts'

/**
 * What can be checked of a run that was erased. Its chain cannot be computed again, since what it was computed of is gone; its
 * record names the end of that chain and goes on from there. `anchors` undefined: the run's hash was written nowhere else.
 */
export function checkErasure(
  run_id: string,
  erasure: ErasureRecord,
  anchors: readonly AnchorVersion[] | undefined,
): readonly Checked[] {
  const titles = ['the erasure came to its end', 'the record of the erasure goes on from the hash chain']
  if (erasure.step !== 'erased') {
    const problem = `run ${run_id}: it is at "${erasure.step}" since ${erasure.at}`
    return [check(0, titles[0] ?? '', [problem])]
  }
  const proof = proofOf(run_id, erasure)
  const broken =
    proof === erasure.proof ? [] : [`run ${run_id}: the record says ${erasure.proof}, computed it is ${proof}`]
  return [check(0, titles[0] ?? '', []), check(1, titles[1] ?? '', broken), anchored(run_id, erasure, anchors)]
}

function check(n: number, title: string, problems: readonly string[]): Checked {
  return { n, title, ok: problems.length === 0, problems: [...problems] }
}

const ANCHORED = 'the hash of the last event is the anchored one'

function anchored(run_id: string, { run, of }: ErasureRecord, anchors: readonly AnchorVersion[] | undefined): Checked {
  if (anchors === undefined || anchors.length === 0 || run === undefined) {
    const why = of === undefined ? 'the run was not anchored' : `its record is that of run ${of}`
    return { ...check(41, ANCHORED, []), left_out: why }
  }
  // Who wrote it first wrote it when the run ended.
  const [first] = anchors
  const body = first?.body ?? ''
  if (body.includes(`"hash":"${run.hash}"`)) return check(41, ANCHORED, [])
  return check(41, ANCHORED, [`run ${run_id}: the record says ${run.hash}, the anchor ${first?.key} another hash`])
}
