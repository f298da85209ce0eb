import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Entity } from '../../shared/graph/entity.ts'
import { rowsOf } from './entity-rows.ts'
import { PASSAGE_SPAN } from './passage-span.ts'

/** Puts entities into an open index and takes them out. The caller holds the transaction. */
export interface IndexWriter {
  /** Which version of an entity the index has (shared/graph/normal-entity.ts); undefined: none. */
  hashOf(entity_id: string): string | undefined
  /** `body`: text of its body, '' for none. */
  put(entity: Entity, hash: string, body: string): void
  remove(entity_id: string): void
}

export function indexWriter(db: DatabaseSync): IndexWriter {
  const sql = statementsOf(db)
  const nodeOf = (entity_id: string): number => {
    const known = sql.find.get(entity_id)
    if (known !== undefined) return Number(known.node)
    return Number(sql.addNode.run(entity_id, entity_id.split('.').toReversed().join('.')).lastInsertRowid)
  }
  return {
    hashOf: (entity_id) => {
      const hash = sql.find.get(entity_id)?.hash
      return typeof hash === 'string' ? hash : undefined
    },
    put(entity, hash, body) {
      const node = nodeOf(entity.entity_id)
      // The edges of before are taken out after the new ones are in, so that nodes both lead to keep their numbers.
      const before = sql.edges.all(node).map(({ dst }) => Number(dst))
      clear(sql, node)
      fill(sql, { node, entity, hash, body }, nodeOf)
      for (const dst of before) sql.dropLoneNode.run(dst)
    },
    remove(entity_id) {
      const known = sql.find.get(entity_id)
      if (known === undefined) return
      const node = Number(known.node)
      const before = sql.edges.all(node).map(({ dst }) => Number(dst))
      clear(sql, node)
      sql.forget.run(node)
      for (const lone of [...before, node]) sql.dropLoneNode.run(lone)
    },
  }
}

type Statements = ReturnType<typeof statementsOf>

function statementsOf(db: DatabaseSync) {
  const prepared = (text: string): StatementSync => db.prepare(text)
  return {
    find: prepared('SELECT node, hash FROM entities WHERE entity_id = ?'),
    addNode: prepared('INSERT INTO entities (entity_id, reversed) VALUES (?, ?)'),
    fill: prepared(
      `UPDATE entities SET hash = ?, label = ?, names = ?, type = ?, kind = ?, segment = ?, domain = ?, at = ?, lat = ?,
         lon = ?, ref = ?, passages = ? WHERE node = ?`,
    ),
    forget: prepared(
      `UPDATE entities SET hash = NULL, label = NULL, names = NULL, type = NULL, kind = NULL, segment = NULL,
         domain = NULL, at = NULL, lat = NULL, lon = NULL, ref = NULL, passages = NULL WHERE node = ?`,
    ),
    dropLoneNode: prepared(
      'DELETE FROM entities WHERE node = ?1 AND hash IS NULL AND NOT EXISTS (SELECT 1 FROM edges WHERE dst = ?1)',
    ),
    edges: prepared('SELECT DISTINCT dst FROM edges WHERE src = ?'),
    dropEdges: prepared('DELETE FROM edges WHERE src = ?'),
    addEdge: prepared(
      'INSERT OR IGNORE INTO edges (src, predicate, dst) SELECT ?, predicate, ? FROM predicates WHERE name = ?',
    ),
    dropNames: prepared('DELETE FROM names WHERE node = ?'),
    addName: prepared('INSERT OR IGNORE INTO names (node, alias, name) VALUES (?, ?, ?)'),
    dropStated: prepared('DELETE FROM stated WHERE node = ?'),
    addPredicate: prepared('INSERT OR IGNORE INTO predicates (name) VALUES (?)'),
    addStated: prepared(
      'INSERT OR IGNORE INTO stated (node, predicate, object) SELECT ?, predicate, ? FROM predicates WHERE name = ?',
    ),
    passageIds: prepared('SELECT id FROM passages WHERE id BETWEEN ? AND ?'),
    dropPassage: prepared('DELETE FROM passages WHERE id = ?'),
    dropWords: prepared('DELETE FROM words WHERE rowid = ?'),
    addPassage: prepared('INSERT INTO passages (id, facts, text) VALUES (?, ?, ?)'),
    addWords: prepared('INSERT INTO words (rowid, names, facts, text) VALUES (?, ?, ?, ?)'),
  }
}

function clear(sql: Statements, node: number): void {
  sql.dropEdges.run(node)
  sql.dropNames.run(node)
  sql.dropStated.run(node)
  for (const { id } of sql.passageIds.all(node * PASSAGE_SPAN, node * PASSAGE_SPAN + PASSAGE_SPAN - 1)) {
    sql.dropPassage.run(Number(id))
    sql.dropWords.run(Number(id))
  }
}

interface Version {
  readonly node: number
  readonly entity: Entity
  readonly hash: string
  readonly body: string
}

function fill(sql: Statements, { node, entity, hash, body }: Version, nodeOf: (id: string) => number): void {
  const { passages, lookups, stated, edges, ...rows } = rowsOf(entity, body)
  const { label, names, type, kind, segment, domain, at, lat, lon, ref } = rows
  sql.fill.run(hash, label, names, type, kind, segment, domain, at, lat, lon, ref, passages.length, node)
  for (const { alias, name } of lookups) sql.addName.run(node, alias, name)
  for (const { predicate, object } of stated) {
    sql.addPredicate.run(predicate)
    sql.addStated.run(node, object, predicate)
  }
  // Its predicate was stated.
  for (const { predicate, target } of edges) sql.addEdge.run(node, nodeOf(target), predicate)
  for (const [k, { facts, text }] of passages.entries()) {
    const id = node * PASSAGE_SPAN + k
    sql.addPassage.run(id, facts === '' ? null : facts, text)
    sql.addWords.run(id, names, facts, text)
  }
}
