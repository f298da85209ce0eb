import type { Dag } from '../dag/dag.ts'
import type { Routing } from '../document/bind-agents.ts'
import { type BlockPositions, blockOrdinal } from '../runs/head.ts'
import { runApiPaths } from '../runs/ids.ts'
import { readOrdinal } from '../runs/lane.ts'
import { type Asked, shownApprovalStatus } from '../runs/run-store.ts'
import { approvalCost } from './cost.ts'
import { questionDetails } from './question-details.ts'
import { approvalRisk, blocksToCome } from './risk.ts'

interface EntryFacts {
  readonly dag: Dag
  readonly places: BlockPositions
  readonly routing: Routing
  /** Milliseconds since 1970. */
  readonly now: number
}

/** One question as the inbox shows it, but for the values and for who asks (GET /api/dag/approvals). */
export function inboxEntry(asked: Asked, facts: EntryFacts) {
  const { item, meta, head, at } = asked
  const status = shownApprovalStatus(head, item.id) ?? 'pending'
  const isOpen = status === 'pending'
  const { quorum = 1, about = 'dispatch' } = item
  const end = isOpen ? facts.now : Date.parse(head.approvals[item.id]?.decided_at ?? at)
  return {
    approval_id: item.id,
    run_id: meta.run_id,
    dag_name: meta.dag_name,
    block_id: item.block_id,
    about,
    status,
    prompt: item.prompt,
    shown_refs: item.shown,
    digest: item.digest,
    edit: [],
    on_reject: 'fail' as const,
    ...questionDetails(item),
    on_timeout: item.on_timeout,
    starter: meta.starter,
    requested_at: item.requested_at,
    expires_at: head.approvals[item.id]?.expires_at ?? item.expires_at,
    age_ms: Math.max(0, end - Date.parse(item.requested_at)),
    approvers: item.approvers,
    self_approval: item.self_approval,
    quorum,
    ...progressOf(asked, isOpen),
    ...weighed(asked, facts),
    links: { run: runApiPaths(meta.run_id).self ?? '', decide: runApiPaths(meta.run_id).approvals ?? '' },
  }
}

/** What HEAD says of it so far. `told` counts reminders and the escalation. */
function progressOf({ item, head, at }: Asked, isOpen: boolean) {
  const approval = head.approvals[item.id]
  const { votes = [], told = 0, escalated, decided_by, decided_person, decided_at, via, declared } = approval ?? {}
  const closed = isOpen ? {} : { decided_at: decided_at ?? at }
  return {
    votes,
    reminders: escalated === true ? Math.max(0, told - 1) : told,
    ...(escalated === true ? { escalated_to: item.escalate?.to ?? [] } : {}),
    ...(decided_by === undefined ? {} : { decided_by }),
    ...(decided_person === undefined ? {} : { decided_person }),
    ...closed,
    ...(via === undefined ? {} : { via }),
    ...(declared === undefined ? {} : { declared }),
  }
}

function weighed({ item, head }: Asked, { dag, places, routing }: EntryFacts) {
  const laneOf = (id: string) => blockOrdinal(places, head, id)
  const hasEnded = (id: string) => readOrdinal(laneOf(id) ?? 0).outcome !== undefined
  const coming = blocksToCome(dag, item, hasEnded)
  const begun = new Set(dag.blocks.flatMap(({ id }) => (laneOf(id) === undefined ? [] : [id])))
  const cost = approvalCost({ dag, coming, begun, budget: head.budget, routing })
  return { cost, risk: approvalRisk({ question: item, coming, cost }) }
}
