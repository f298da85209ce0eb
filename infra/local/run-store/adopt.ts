import type { DatabaseSync } from 'node:sqlite'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { term } from '../../../shared/runs/facts-index.ts'
import { laneKey } from '../../../shared/runs/lane.ts'
import { adoptedFacts } from '../../../shared/runs/run-facts.ts'
import { closingTime, type EndedRun, type RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../database.ts'
import { erasedBefore } from './erasure.ts'
import { addEvents, type LiveRun, liveRunsOf } from './live-runs.ts'
import { nameOf, runNumberLookup } from './query.ts'

/** Takes an ended run of another store, in one transaction. */
export function adoptOn(db: DatabaseSync): Pick<RunStore, 'adopt'> {
  const live = liveRunsOf(db)
  const numberOf = runNumberLookup(db)
  const refuseErased = erasedBefore(db)
  const writeItems = itemWriter(db)
  return {
    adopt: (run) =>
      commitTogether(
        db,
        () => {
          if (numberOf(run.meta) !== undefined) return false
          refuseErased(run.meta)
          const one = live.make(keyOf(run), { ...firstHead(run), check_at: undefined }, birthOf(run))
          fill(one, run)
          live.changed(one)
          // Its row, before those that go with it.
          live.write()
          writeItems(one, run)
          return true
        },
        nameOf(run.meta),
      ),
  }
}

const keyOf = ({ meta: { tenant, run_id } }: EndedRun) => ({ tenant, run_id })

function firstHead({ head }: EndedRun) {
  const { deadline_at, stored_bytes, budget } = head
  return { queued: head.queued === true, deadline_at, stored_bytes, budget }
}

function birthOf(run: EndedRun) {
  const { meta, context } = run
  const { dag_name, created_at } = meta
  const texts = { meta: JSON.stringify(meta), context: JSON.stringify(context.values) }
  const { facts, terms } = adoptedFacts(run)
  return { dag_name, created_at, ...texts, facts: { facts, terms: [...terms, ...run.words.map(term.word)] } }
}

function fill(one: LiveRun, { head, events, projections }: EndedRun): void {
  one.state = head.state
  one.ended = head.ended
  one.approvals = head.approvals
  one.modules = head.modules
  one.children = head.children
  one.labels = head.labels
  one.unwritten.ends = true
  for (const lane of head.running) one.running.add(lane)
  for (const [lane, ordinal] of Object.entries(head.lanes)) {
    one.lanes.set(lane, { ordinal, projection: undefined, lease_until: undefined })
  }
  for (const projection of projections) {
    const lane = laneKey(projection)
    const { ordinal } = one.lanes.get(lane) ?? {}
    one.lanes.set(lane, { ordinal, projection, lease_until: projection.lease_until })
  }
  for (const lane of one.lanes.keys()) one.unwritten.lanes.add(lane)
  addEvents(one, events, events.map(bodyOf))
}

function bodyOf({ seq: _seq, id: _id, run_id: _run, at: _at, ...event }: RunEvent): string {
  return JSON.stringify(event)
}

/** What lies beside HEAD in tables of its own. */
function itemWriter(db: DatabaseSync): (one: LiveRun, run: EndedRun) => void {
  const version = db.prepare('UPDATE contexts SET version = ? WHERE run = ?')
  const map = db.prepare('INSERT OR REPLACE INTO head_maps (run, map, key, body) VALUES (?, ?, ?, ?)')
  const note = db.prepare('INSERT INTO run_notes (run, at, id, body) VALUES (?, ?, ?, ?)')
  const artifact = db.prepare('INSERT INTO artifacts (run, name, body) VALUES (?, ?, ?)')
  const writeApprovals = approvalWriter(db)
  return (one, run) => {
    const { head, context, artifacts } = run
    version.run(context.version, one.run)
    // Read again: as it was written.
    delete one.context
    for (const name of ['modules', 'children'] as const) {
      for (const [key, body] of Object.entries(head[name])) map.run(one.run, name, key, JSON.stringify(body))
    }
    if (head.labels !== undefined) map.run(one.run, 'labels', '', JSON.stringify(head.labels))
    for (const said of run.notes) note.run(one.run, said.at, said.id, JSON.stringify(said))
    writeApprovals(one.run, run)
    for (const item of artifacts) artifact.run(one.run, item.name, JSON.stringify(item))
  }
}

/** HEAD's part of each question, and what was asked. */
function approvalWriter(db: DatabaseSync): (run: number, ended: EndedRun) => void {
  const told = db.prepare('INSERT INTO approvals (run, id, status, head, closed_at) VALUES (?, ?, ?, ?, ?)')
  const asked = db.prepare(
    'INSERT INTO approvals (run, id, item, closed_at) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET item = excluded.item',
  )
  const message = db.prepare('INSERT INTO approval_messages (run, id, body) VALUES (?, ?, ?)')
  return (run, ended) => {
    for (const [id, head] of Object.entries(ended.head.approvals)) {
      told.run(run, id, head.status, JSON.stringify(head), closingTime(ended, id))
    }
    for (const { slack, ...item } of ended.approvals) {
      asked.run(run, item.id, JSON.stringify(item), closingTime(ended, item.id))
      if (slack !== undefined) message.run(run, item.id, JSON.stringify(slack))
    }
  }
}
