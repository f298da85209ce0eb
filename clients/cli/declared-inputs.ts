import { basename } from 'node:path'
import type { Dag } from '../../shared/dag/dag.ts'
import { parseDag } from '../../shared/dag/parse.ts'
import type { Target } from './api.ts'
import { knownProviders } from './check-files.ts'
import { fetchRun } from './fetch-run.ts'

/** Run inputs of the document the retry runs: the file's, else those of the earlier run. */
export async function declaredInputs(
  target: Target,
  runId: string,
  file = '',
  text?: string,
): Promise<Dag['inputs'] | undefined> {
  if (text === undefined) return (await fetchRun(target, runId)).dag.inputs as Dag['inputs'] | undefined
  const parsed = parseDag(text, { name: basename(file).replace(/\.\w+$/, ''), providers: knownProviders() })
  return parsed.ok ? parsed.dag.inputs : undefined
}
