import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../../shared/errors.ts'
import {
  type Entity,
  entityEdges,
  entityHash,
  entityType,
  groupBySubject,
  withTriples,
} from '../../../shared/graph/entity.ts'
import { checkBatch, type EntityOutcome, type GraphStore, WRITE_BATCH } from '../../../shared/graph/graph-store.ts'
import type { Clock } from '../../../shared/ports/host.ts'
import { transaction } from '../database.ts'

type Statements = ReturnType<typeof statementsOf>

/** A call is one transaction: entities, edges and the entry of the change log are there together or not at all. */
export function entityWritesOn(
  db: DatabaseSync,
  clock: Pick<Clock, 'now'>,
): Pick<GraphStore, 'put' | 'addTriples' | 'delete'> {
  const sql = statementsOf(db)
  const together = (tenant: string, count: number, work: () => readonly EntityOutcome[]): readonly EntityOutcome[] => {
    checkBatch(count, WRITE_BATCH)
    return transaction(db, () => {
      const outcomes = work()
      const changed = outcomes.filter(({ outcome }) => CHANGES.has(outcome)).map(({ entity_id }) => entity_id)
      if (changed.length > 0) {
        sql.note.run(tenant, new Date(clock.now()).toISOString(), JSON.stringify([...new Set(changed)]))
      }
      return outcomes
    })
  }
  return {
    put: async (tenant, entities) =>
      together(tenant, entities.length, () => entities.map((entity) => putEntity(sql, tenant, entity))),
    addTriples: async (tenant, triples) => {
      const subjects = groupBySubject(triples)
      return together(tenant, subjects.size, () =>
        [...subjects].map(([entity_id, added]) => {
          const row = sql.body.get(tenant, entity_id)
          const stated: Entity = row === undefined ? { entity_id } : JSON.parse(String(row.body))
          return refusable(entity_id, () => putEntity(sql, tenant, withTriples(stated, added)))
        }),
      )
    },
    delete: async (tenant, entity_ids) =>
      together(tenant, entity_ids.length, () => entity_ids.map((entity_id) => dropEntity(sql, tenant, entity_id))),
  }
}

const CHANGES: ReadonlySet<EntityOutcome['outcome']> = new Set(['created', 'updated', 'deleted'])

function statementsOf(db: DatabaseSync) {
  return {
    hash: db.prepare('SELECT hash FROM graph_entities WHERE tenant = ? AND entity_id = ?'),
    body: db.prepare('SELECT body FROM graph_entities WHERE tenant = ? AND entity_id = ?'),
    put: db.prepare(
      'INSERT OR REPLACE INTO graph_entities (tenant, entity_id, hash, label, type, body) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    drop: db.prepare('DELETE FROM graph_entities WHERE tenant = ? AND entity_id = ?'),
    name: db.prepare('SELECT id FROM graph_names WHERE tenant = ? AND name = ?'),
    addName: db.prepare('INSERT INTO graph_names (tenant, name) VALUES (?, ?)'),
    addEdge: db.prepare('INSERT OR IGNORE INTO graph_edges (subject, predicate, object) VALUES (?, ?, ?)'),
    dropEdges: db.prepare('DELETE FROM graph_edges WHERE subject = ?'),
    note: db.prepare('INSERT INTO graph_changes (tenant, at, entity_ids) VALUES (?, ?, ?)'),
  }
}

function putEntity(sql: Statements, tenant: string, entity: Entity): EntityOutcome {
  const { entity_id, label } = entity
  const hash = entityHash(entity)
  const before = sql.hash.get(tenant, entity_id)?.hash
  if (before === hash) return { entity_id, outcome: 'unchanged' }
  sql.put.run(tenant, entity_id, hash, label ?? null, entityType(entity), JSON.stringify(entity))
  const subject = numberOf(sql, tenant, entity_id)
  sql.dropEdges.run(subject)
  for (const { predicate, object } of entityEdges(entity)) {
    sql.addEdge.run(subject, numberOf(sql, tenant, predicate), numberOf(sql, tenant, object))
  }
  return { entity_id, outcome: before === undefined ? 'created' : 'updated' }
}

function dropEntity(sql: Statements, tenant: string, entity_id: string): EntityOutcome {
  if (sql.drop.run(tenant, entity_id).changes === 0) return { entity_id, outcome: 'absent' }
  sql.dropEdges.run(numberOf(sql, tenant, entity_id))
  return { entity_id, outcome: 'deleted' }
}

function numberOf(sql: Statements, tenant: string, name: string): number {
  const known = sql.name.get(tenant, name)
  return Number(known?.id ?? sql.addName.run(tenant, name).lastInsertRowid)
}

/** What is wrong with one entity is its own outcome; a store that cannot write fails the whole call. */
function refusable(entity_id: string, write: () => EntityOutcome): EntityOutcome {
  try {
    return write()
  } catch (cause) {
    if (!(cause instanceof Fault) || cause.name !== 'LimitExceeded') throw cause
    return { entity_id, outcome: 'failed', code: cause.code, message: cause.message }
  }
}
