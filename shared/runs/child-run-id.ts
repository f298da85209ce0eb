import { runIdOfKey } from './ids.ts'

/** The child run of one attempt of a block: who opens it again finds it (docs/adr/0024). */
export function childRunId(
  tenant: string,
  parent: { run_id: string; block: number; epoch: number; attempt: number },
): string {
  const { run_id, block, epoch, attempt } = parent
  return runIdOfKey(tenant, 'child', `${run_id}/${block}/${epoch}/${attempt}`)
}
