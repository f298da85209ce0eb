import type { NewEvent } from '../../shared/runs/event.ts'
import type { HeadApproval } from '../../shared/runs/head.ts'
import { ordinal } from '../../shared/runs/lane.ts'
import type { Append, Meta, NewRun, RunKey, RunStore } from '../../shared/runs/run-store.ts'
import type { ApprovalItem } from '../../shared/runs/run-store-items.ts'

/** 2026-01-01 plus so many milliseconds, as events carry it. */
export function time(ms: number): string {
  return new Date(Date.UTC(2026, 0, 1) + ms).toISOString()
}

/** Runs of the suite: distinct ids, created one second apart. */
export function newRun(n: number, over: Partial<Meta> = {}): NewRun {
  const meta: Meta = {
    tenant: 'main',
    run_id: `run_${String(n).padStart(26, '0')}`,
    dag_name: 'brief',
    dag_hash: 'd'.repeat(64),
    dag_ref: `objstore://main/${'d'.repeat(64)}`,
    machine: 'local:d',
    starter: 'user:ana',
    created_at: time(n * 1_000),
    body_hash: 'b'.repeat(64),
    inputs_hash: 'i'.repeat(64),
    overrides: { 'plan.goal': ['x', { deep: 1 }] },
    options: { max_parallel: 50, fail_fast: false, deadline_sec: 3_600 },
    blocks: 4,
    ...over,
  }
  return {
    meta,
    context: { goal: 'a brief', nested: { list: [1, null, 'ü'] } },
    deadline_at: time(3_600_000),
    check_at: time(60_000),
    event: {
      type: 'run:started',
      data: {
        dag_name: meta.dag_name,
        dag_hash: meta.dag_hash,
        inputs_hash: meta.inputs_hash,
        starter: meta.starter,
        deadline_at: time(3_600_000),
        caps: { tokens: 0 },
      },
    },
    outbox: [{ id: 'start', at: time(0), kind: 'start_run' }],
  }
}

export function keyOf({ tenant, run_id }: RunKey): RunKey {
  return { tenant, run_id }
}

export const ready = (block_id: string): NewEvent => ({ type: 'block:ready', block_id, data: {} })

export const started = (block_id: string, attempt: number): NewEvent => ({
  type: 'block:started',
  block_id,
  attempt,
  data: { inputs_hash: 'i'.repeat(64), context_version: 0, holder: 'boot/1', lease_until: time(30_000) },
})

export const at = (attempt: number, phase: number): number => ordinal({ epoch: 0, attempt, phase })

/** A step on a lane, guarded by "not taken yet". */
export function step(run: RunKey, lane: string, place: number, over: Partial<Append> = {}): Append {
  return { run, lane, ordinal: place, guard: { below: place }, at: time(1), events: [ready(`b${lane}`)], ...over }
}

/** The append that ends a run. */
export function ending(run: RunKey, over: Partial<Append> = {}): Append {
  const event: NewEvent = { type: 'run:cancelled', data: { code: 'stopped', reason: 'a person stopped it' } }
  return { ...step(run, 'run', at(0, 93)), guard: { below: at(0, 90) }, events: [event], state: 'cancelled', ...over }
}

export function pending(block: number): HeadApproval {
  return { block, status: 'pending', expires_at: time(1_800_000), digest: 'e'.repeat(64) }
}

export function question(id: string, block: number): ApprovalItem {
  return {
    id,
    block,
    block_id: `b${block}`,
    prompt: 'Deploy this build?',
    shown: { 'build.log': { ref: `objstore://main/${'a'.repeat(64)}`, sha256: 'a'.repeat(64), bytes: 12 } },
    digest: 'e'.repeat(64),
    requested_at: time(10),
    expires_at: time(1_800_000),
    on_timeout: 'reject',
    approvers: ['user:ana'],
    self_approval: true,
  }
}

/** The store of the present test. */
export type Store = () => RunStore

/** A run that was just created. */
export async function begun(store: Store, n = 1): Promise<RunKey> {
  const run = newRun(n)
  await store().create(run)
  return keyOf(run.meta)
}

export async function seqs(store: Store, run: RunKey): Promise<readonly number[]> {
  return (await store().events(run, 0, 10_000)).map(({ seq }) => seq)
}

/** 1 to n. */
export const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)
