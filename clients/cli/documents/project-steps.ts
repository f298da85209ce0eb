import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { stepsNamed } from '../../../shared/document/parse.ts'
import { isModulePath, type KnownSteps } from '../../../shared/steps/described-step.ts'
import type { WorkSettings } from '../../../shared/steps/native-settings.ts'
import { Refused } from '../terminal/refused.ts'

/** What a program may answer of 200 steps, with room. */
const MOST_BYTES = 64 * 1_048_576

/**
 * What the project in the working folder has of the steps and calls that documents name, in one call for all of them: ports and
 * config come from their code, which is loaded in a program of its own. Of most documents nothing is asked. Without
 * `work` (a sluice.yaml with errors) only modules are judged.
 */
export function stepsOf(documents: readonly (string | object)[], work: WorkSettings | undefined): KnownSteps {
  const named = [...new Set(documents.flatMap(stepsNamed))]
  const names = work === undefined ? named.filter(isModulePath) : named
  const unjudged = named.filter((name) => !names.includes(name)).map((name) => [name, UNJUDGED] as const)
  return { ...Object.fromEntries(unjudged), ...(names.length === 0 ? {} : describe(names, work)) }
}

const UNJUDGED = { kind: 'program', hash: '', effect: 'again' } as const

function describe(names: readonly string[], work: WorkSettings | undefined): KnownSteps {
  const program = fileURLToPath(new URL('../../../infra/local/describe-steps.ts', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], {
    input: JSON.stringify({ names, ...work }),
    encoding: 'utf8',
    maxBuffer: MOST_BYTES,
  })
  // Written by a program of this package.
  if (status === 0) return JSON.parse(stdout) as KnownSteps
  const seen = stderr.trim().split('\n').slice(-12).join('\n')
  const detail = `Cannot read the steps ${names.join(', ')}: the program that loads them failed. ${seen}`
  throw new Refused({ code: 'steps_unreadable', detail })
}
