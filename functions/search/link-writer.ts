import type { DatabaseSync } from 'node:sqlite'
import type { NameKey } from '../../shared/graph/mentions.ts'
import { PASSAGE_SPAN } from './index-file.ts'

/**
 * Who bears which name, and what is to be searched for names because of it: find-mentions.ts does that for all at once
 * before somebody reads. The caller holds the transaction and calls `settle` before it ends.
 */
export interface LinkWriter {
  /** The entity's passages are new, and these are its names now. */
  put(node: number, names: readonly NameKey[]): void
  /** Before its passages go: it has no names any more. */
  remove(node: number): void
  settle(): void
}

export function linkWriter(db: DatabaseSync): LinkWriter {
  const sql = statementsOf(db)
  /** Names somebody stopped to bear. */
  const left = new Set<number>()
  const nameOf = (key: string): number => {
    const row = sql.name.get(key)
    if (row !== undefined) return Number(row.name)
    const name = Number(sql.addName.run(key).lastInsertRowid)
    sql.noteName.run(name)
    return name
  }
  const leave = (node: number): void => {
    for (const { name } of sql.namesOf.all(node)) left.add(Number(name))
    sql.dropNamed.run(node)
  }
  return {
    put(node, names) {
      leave(node)
      for (const { key, written } of names) sql.addNamed.run(nameOf(key), node, written)
      sql.noteTexts.run(...rangeOf(node))
    },
    remove: leave,
    settle() {
      for (const name of left) dropUnborne(sql, name)
      left.clear()
    },
  }
}

type Statements = ReturnType<typeof statementsOf>

function statementsOf(db: DatabaseSync) {
  return {
    name: db.prepare('SELECT name FROM link_names WHERE key = ?'),
    isBorne: db.prepare('SELECT 1 FROM named WHERE name = ?'),
    addName: db.prepare('INSERT INTO link_names (key) VALUES (?)'),
    noteName: db.prepare('INSERT INTO new_names (name) VALUES (?)'),
    dropName: db.prepare('DELETE FROM link_names WHERE name = ?'),
    dropNew: db.prepare('DELETE FROM new_names WHERE name = ?'),
    namesOf: db.prepare('SELECT name FROM named WHERE node = ?'),
    addNamed: db.prepare('INSERT INTO named (name, node, written) VALUES (?, ?, ?)'),
    dropNamed: db.prepare('DELETE FROM named WHERE node = ?'),
    noteTexts: db.prepare(
      'INSERT OR IGNORE INTO unsearched (passage) SELECT id FROM passages WHERE id BETWEEN ? AND ?',
    ),
    noteHaving: db.prepare('INSERT OR IGNORE INTO unsearched (passage) SELECT passage FROM mentions WHERE name = ?'),
  }
}

/** The ids of a node's passages. */
export function rangeOf(node: number): readonly [number, number] {
  return [node * PASSAGE_SPAN, node * PASSAGE_SPAN + PASSAGE_SPAN - 1]
}

/** A name that nobody bears any more; texts that had it may have a shorter one in its place. */
function dropUnborne(sql: Statements, name: number): void {
  if (sql.isBorne.get(name) !== undefined) return
  sql.noteHaving.run(name)
  sql.dropName.run(name)
  sql.dropNew.run(name)
}
