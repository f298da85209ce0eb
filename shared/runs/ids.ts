import { base32, sha256 } from '../text/hash.ts'
import { canonicalJson } from '../text/json.ts'
import { questionItem } from './turns-and-calls.ts'

const RUN_ID_CHARS = 26

/** `run_` + 26 characters of Crockford base 32, lower case, from 17 random bytes (130 bits are used). */
export function newRunId(random: Uint8Array): string {
  return `run_${base32(random, RUN_ID_CHARS)}`
}

/** What a whole id, or the beginning of one, may be typed as: `run_` may be left out. */
export const SHORT_RUN_ID = /^(?:run_)?[0-9a-hjkmnp-tv-z]{4,26}$/

/** `k3f9` is the beginning `run_k3f9` of an id. */
export function idBeginning(typed: string): string {
  return typed.startsWith('run_') ? typed : `run_${typed}`
}

/** A run that follows from another one, whoever asks for it: always the same of this tenant, kind and key. */
export function runIdOfKey(tenant: string, kind: string, key: string): string {
  return hashed(`${tenant}|${kind}|${key}`)
}

/**
 * The run of an Idempotency-Key: the same key of the same caller (`user:ana`) on the same route is always the same run,
 * another caller's is another one. Names and keys may hold any sign, so it is their list that is hashed.
 */
export function runIdOfIdempotencyKey(tenant: string, caller: string, route: string, key: string): string {
  return hashed(canonicalJson([tenant, caller, route, key]))
}

function hashed(text: string): string {
  return `run_${base32(Buffer.from(sha256(text), 'hex'), RUN_ID_CHARS)}`
}

/** `apr_<26 of the run id>_<block index, base 36>_<epoch>`. */
export function approvalId(runId: string, block: number, epoch: number): string {
  return `apr_${runId.slice('run_'.length)}_${block.toString(36)}_${epoch}`
}

/** The child run of one attempt of a block: who opens it again finds it (docs/adr/0024). */
export function childRunId(
  tenant: string,
  parent: { run_id: string; block: number; item?: number | undefined; epoch: number; attempt: number },
): string {
  const { run_id, block, item, epoch, attempt } = parent
  const lane = item === undefined ? String(block) : `${block}.${item}`
  return runIdOfKey(tenant, 'child', `${run_id}/${lane}/${epoch}/${attempt}`)
}

/**
 * The `n`th question of a block and epoch in the middle of an attempt: `apr_<26 of the run id>_<block>_<epoch>_a<n>`. Items
 * of a list share those of their block; a call of an agent (`item`) has its own: `.._<epoch>_i<item>a<n>`.
 */
export function questionId(runId: string, block: number, epoch: number, n: number, item?: number): string {
  return `${approvalId(runId, block, epoch)}_${item === undefined ? '' : `i${item}`}a${n}`
}

/** Its number; undefined for the approval of a dispatch. */
export function questionNumber(id: string): number | undefined {
  const [, n] = /_\d+_(?:i\d+)?a(\d+)$/.exec(id) ?? []
  return n === undefined ? undefined : Number(n)
}

/** The lane its events stand on: an approval's `a<k>`, a question's `q<k>`, whose ordinals have `n` for an attempt; of a call `q<k>.<item>`. */
export function approvalLane(id: string, block: number): string {
  const item = questionItem(id)
  if (item !== undefined) return callQuestionLane(block, item)
  return `${questionNumber(id) === undefined ? 'a' : 'q'}${block.toString(36)}`
}

/** The lane of what people are asked about one call of an agent (`q5.1`). */
export function callQuestionLane(block: number, item: number): string {
  return `q${block.toString(36)}.${item}`
}

/** The epoch an approval id names; 0 for what is none. */
export function approvalEpoch(id: string): number {
  return Number(/_(\d+)(?:_(?:i\d+)?a\d+)?$/.exec(id)?.[1] ?? 0)
}

/** The run whose approval this is; undefined for what is no approval id. */
export function runIdOfApproval(id: string): string | undefined {
  const run = /^apr_([0-9a-hjkmnp-tv-z]{26})_/.exec(id)?.[1]
  return run === undefined ? undefined : `run_${run}`
}

/** Where the parts of a run are found, as paths of the API. */
export function runApiPaths(runId: string): Record<string, string> {
  const self = `/api/dag/runs/${runId}`
  return {
    self,
    events: `${self}/events`,
    replay: `${self}/replay`,
    context: `${self}/context`,
    artifacts: `${self}/artifacts`,
    approvals: `${self}/approvals`,
    stop: `${self}/stop`,
  }
}
