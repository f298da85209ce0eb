import { basename } from 'node:path'
import type { Dag } from '../../shared/dag/dag.ts'
import { parseDag } from '../../shared/dag/parse.ts'
import { Fault } from '../../shared/errors.ts'
import { knownProviders } from './check-files.ts'
import { readFile } from './read-file.ts'
import { Refused } from './refused.ts'

/** A document a person named, checked; one with errors ends the command with all of them and exit code 100. */
export function readDagFile(file: string, verb: 'compile' | 'plan' | 'draw'): Dag {
  const name = basename(file).replace(/\.ya?ml$/, '')
  const parsed = parseDag(readFile(file, 'DAG file'), { name, providers: knownProviders() })
  if (parsed.ok) return parsed.dag
  const detail = `Cannot ${verb} "${file}": it has errors.`
  throw new Refused({ code: 'invalid_dag', detail, errors: parsed.errors }, { exitCode: 100 })
}

/** What is made of a checked document may still refuse it (too large a piece, a name that is no block): exit code 1. */
export function refusing<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof Fault) || error.name === 'Bug') throw error
    const { code, message, issues } = error
    throw new Refused({ code, detail: message, ...(issues.length > 0 && { errors: issues }) }, { cause: error })
  }
}
