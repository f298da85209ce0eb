import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { AskedGatesSchema, moduleChecksIn, type ProjectGates } from '../../../shared/gates/project-gates.ts'
import { readYaml } from '../../../shared/text/yaml.ts'
import { Refused } from '../terminal/refused.ts'

/**
 * The gates of the project in the working folder that these texts name, as their files are now. Modules are bundled and run
 * in the isolate by a program of its own; most texts name none, and nothing is started for them.
 */
export function projectGates(...texts: readonly (string | object)[]): ProjectGates {
  const given = texts.map((text) => (typeof text === 'string' ? (readYaml(text).source.value ?? null) : text))
  if (moduleChecksIn(given).length === 0) return { modules: new Map(), answers: new Map() }
  const program = fileURLToPath(new URL('../../../infra/modules/gates-worker.ts', import.meta.url))
  const input = JSON.stringify(given)
  const { stdout, stderr, status } = spawnSync(process.execPath, [program], { input, maxBuffer: MOST_BYTES })
  if (status !== 0) throw unreadable(stderr.toString())
  const { modules, answers } = AskedGatesSchema.parse(JSON.parse(stdout.toString()))
  return { modules: new Map(modules), answers: new Map(answers) }
}

/** Twenty scripts of a MiB each, and what they say. */
const MOST_BYTES = 67_108_864

function unreadable(why: string): Refused {
  const detail = `Cannot read the gates of this project: ${why.trim().slice(0, 500) || 'the program that reads them broke off'}.`
  return new Refused({ code: 'bad_gate_module', detail }, { exitCode: 1 })
}
