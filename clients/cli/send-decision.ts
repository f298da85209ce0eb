import * as z from 'zod'
import { callApi, type Target } from './api.ts'
import { type Approval, runPath } from './fetch-run.ts'

interface DecisionToSend {
  readonly approval: Approval
  readonly decision: 'approve' | 'reject'
  readonly feedback?: string
  /** Recorded with the decision: whether a person or an option said yes. */
  readonly via: 'cli' | 'cli --yes'
}

const DecidedSchema = z.looseObject({ approval: z.looseObject({ status: z.string() }), run: z.looseObject({}) })
export type Decided = z.infer<typeof DecidedSchema>

/** Decides one approval, bound to what was shown by its digest; somebody else's earlier decision is a 409. */
export function sendDecision(target: Target, runId: string, sent: DecisionToSend): Promise<Decided> {
  const { approval, decision, feedback, via } = sent
  return callApi(target, DecidedSchema, {
    method: 'POST',
    path: runPath(runId, '/approvals'),
    headers: { 'x-sluice-via': via },
    body: {
      approval_id: approval.approval_id,
      decision,
      digest: approval.digest,
      ...(feedback !== undefined && { feedback }),
    },
  })
}
