import type { DatabaseSync } from 'node:sqlite'
import { placeOf } from '../../../shared/runs/facts-index.ts'
import type { Head } from '../../../shared/runs/head.ts'
import { type birthFacts, endFacts, endTerms } from '../../../shared/runs/run-facts.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'

/** Writes what a run is found by, in the transaction that begins it, or ends it. */
export function factsWriter(db: DatabaseSync) {
  const insert = db.prepare(
    'INSERT OR REPLACE INTO run_facts (run, tenant, place, birth, labels) VALUES (?, ?, ?, ?, ?)',
  )
  const close = db.prepare('UPDATE run_facts SET ended = ? WHERE run = ?')
  const under = termWriter(db)
  return {
    begin(
      { run, key }: { readonly run: number; readonly key: RunKey },
      { facts, terms }: ReturnType<typeof birthFacts>,
    ) {
      const place = placeOf(facts.birth)
      insert.run(run, key.tenant, place, JSON.stringify(facts.birth), JSON.stringify(facts.labels))
      under(run, terms)
    },
    end(run: number, head: Head) {
      const facts = endFacts(head)
      close.run(JSON.stringify(facts), run)
      under(run, endTerms(head, facts.state))
    },
  }
}

/** Lists a run under terms; of one without facts nothing is listed. */
export function termWriter(db: DatabaseSync): (run: number, terms: readonly string[]) => void {
  const add = db.prepare(
    'INSERT OR IGNORE INTO run_terms (tenant, term, place, run) SELECT tenant, ?, place, run FROM run_facts WHERE run = ?',
  )
  return (run, terms) => {
    for (const term of terms) add.run(term, run)
  }
}
