import type { DatabaseSync } from 'node:sqlite'
import { placeOf } from '../../../shared/runs/facts-index.ts'
import type { Head } from '../../../shared/runs/head.ts'
import { type birthFacts, endFacts, endTerms } from '../../../shared/runs/run-facts.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import { inserter } from '../insert-rows.ts'

/** Writes what a run is found by, in the transaction that begins it, or ends it. */
export function factsWriter(db: DatabaseSync) {
  const insert = db.prepare(
    'INSERT OR REPLACE INTO run_facts (run, tenant, place, birth, labels, ended) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const close = db.prepare('UPDATE run_facts SET ended = ? WHERE run = ?')
  const list = inserter(db, 'OR IGNORE INTO run_terms (tenant, term, place, run)', 4)
  const under = termWriter(db)
  return {
    /** `ended`: HEAD of a run that is over by then. */
    begin(
      { run, key: { tenant } }: { readonly run: number; readonly key: RunKey },
      { facts, terms }: ReturnType<typeof birthFacts>,
      ended?: Head,
    ) {
      const place = placeOf(facts.birth)
      const end = ended === undefined ? undefined : endFacts(ended)
      const rest = [JSON.stringify(facts.labels), end === undefined ? null : JSON.stringify(end)]
      insert.run(run, tenant, place, JSON.stringify(facts.birth), ...rest)
      const all = ended === undefined || end === undefined ? terms : [...terms, ...endTerms(ended, end.state)]
      list(all.flatMap((term) => [tenant, term, place, run]))
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
    `INSERT OR IGNORE INTO run_terms (tenant, term, place, run)
     SELECT tenant, value, place, run FROM run_facts CROSS JOIN json_each(?) WHERE run = ?`,
  )
  return (run, terms) => {
    if (terms.length > 0) add.run(JSON.stringify(terms), run)
  }
}
