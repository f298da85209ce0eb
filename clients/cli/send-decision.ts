import * as z from 'zod'
import type { Json } from '../../shared/canonical.ts'
import { DECLARED_HEADER } from '../../shared/principal.ts'
import type { RestartMode } from '../../shared/runs/head.ts'
import { callApi, type Target } from './api.ts'
import type { Approval } from './approval-answer.ts'

export interface DecisionToSend {
  readonly approval: Pick<Approval, 'approval_id' | 'digest'>
  /** `waive`: the yes to a question about failed gates. */
  readonly decision: 'approve' | 'reject' | 'waive'
  readonly feedback?: string
  /** New values of inputs, with an approval. */
  readonly edits?: Readonly<Record<string, Json>>
  /** With a rejection: whether another run takes this one's place, and what it is given. */
  readonly iterate?: boolean
  readonly restart_mode?: RestartMode
  /** Recorded as declared: whether a person or an option said so. */
  readonly by: 'cli' | 'cli --yes'
}

const DecidedSchema = z.looseObject({
  approval: z.looseObject({ status: z.string(), votes: z.array(z.looseObject({})).optional() }),
  run: z.looseObject({ next_run: z.string().optional() }),
})
export type Decided = z.infer<typeof DecidedSchema>

/** Decides one approval, bound to what was shown by its digest; somebody else's earlier decision is a 409. */
export function sendDecision(target: Target, runId: string, sent: DecisionToSend): Promise<Decided> {
  const { approval, by, ...decision } = sent
  const request = {
    params: { path: { run_id: runId } },
    headers: { [DECLARED_HEADER]: by },
    body: { approval_id: approval.approval_id, digest: approval.digest, ...decision },
  }
  return callApi(target, DecidedSchema, (api) => api.POST('/api/dag/runs/{run_id}/approvals', request))
}
