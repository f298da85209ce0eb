import { approvalId } from './ids.ts'

/** The `n`th question of a block and epoch in the middle of an attempt: `apr_<26 of the run id>_<block>_<epoch>_a<n>`. */
export function askId(runId: string, block: number, epoch: number, n: number): string {
  return `${approvalId(runId, block, epoch)}_a${n}`
}

/** Its number; undefined for the approval of a dispatch. */
export function askNumber(id: string): number | undefined {
  const [, n] = /_\d+_a(\d+)$/.exec(id) ?? []
  return n === undefined ? undefined : Number(n)
}

/** The lane its events stand on: an approval's `a<k>`, a question's `q<k>`, whose ordinals have `n` for an attempt. */
export function approvalLane(id: string, block: number): string {
  return `${askNumber(id) === undefined ? 'a' : 'q'}${block.toString(36)}`
}
