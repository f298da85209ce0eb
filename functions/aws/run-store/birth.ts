import { CHAIN_START } from '../../../shared/runs/hash-chain.ts'
import { ordinal, PHASE } from '../../../shared/runs/ordinal.ts'
import type { NewRun } from '../../../shared/runs/run-store.ts'
import { as, type Item } from './attribute-values.ts'
import { newLedger } from './budget.ts'
import { dueShard } from './due-shards.ts'
import { eventTexts } from './event-texts.ts'
import { headKey } from './head-item.ts'
import { itemKey } from './item-keys.ts'

/** What a run is made from, kept in CTX: META and HEAD are pure functions of it, so anybody can write them. */
export interface Birth {
  readonly run: Omit<NewRun, 'context' | 'parent_token'>
  /** Of the create that came first. */
  readonly nonce: string
}

/** HEAD as it is first written: maps and tail are there, so that every later update has a path to go on. */
export function headItem({ run, nonce }: Birth): Item {
  const { tenant, run_id, created_at, dag_name } = run.meta
  const texts = eventTexts({ lane: 'run', ordinal: STARTED, at: created_at, events: [run.event] }, nonce)
  return {
    ...headKey(run.meta),
    v: as.number(1),
    state: as.text('running'),
    dag_name: as.text(dag_name),
    by_tenant: as.text(`T#${tenant}`),
    created: as.text(`${created_at}#${run_id}`),
    due: as.text(dueShard(run_id)),
    base: as.number(0),
    base_hash: as.text(CHAIN_START),
    tail: as.list(texts),
    lanes: as.map({ run: as.number(STARTED) }),
    items: as.map({}),
    approvals: as.map({}),
    modules: as.map({}),
    children: as.map({}),
    outbox: as.map(Object.fromEntries(run.outbox.map((entry) => [entry.id, as.json(entry)]))),
    deadline_at: as.text(run.deadline_at),
    check_at: as.text(run.check_at),
    ...newLedger(run.caps),
    stored_bytes: as.number(run.stored_bytes ?? 0),
    ...(run.queued === true ? { queued: as.number(1) } : {}),
  }
}

/** META: written once. */
export function metaItem({ run }: Birth): Item {
  return { ...itemKey(run.meta, 'META'), body: as.json(run.meta) }
}

/** run:started is the first step of the run's own lane. */
const STARTED = ordinal({ epoch: 0, attempt: 0, phase: PHASE.claimed })
