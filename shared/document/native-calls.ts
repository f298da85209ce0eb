import {
  callNameOf,
  GIVEN_TWICE,
  NATIVE_HANDLERS,
  type NativeHandler,
  secretsGiven,
  templatesOfCall,
} from '../dag/native-call.ts'
import { takenParameter } from '../steps/integrations.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import type { Path } from '../text/source-position.ts'
import { quoted } from '../text/wording.ts'
import { type Mapping, type Reading, readSection } from './sections.ts'

/** The config of a block whose work AWS does itself: by its schema, and by what the place knows of the call. */
export function readNativeCall(
  reading: Reading,
  handler: NativeHandler,
  given: Json | undefined,
  path: Path,
): Mapping | undefined {
  const at = [...path, 'config']
  // The schemas accept JSON only.
  const config = readSection(reading, NATIVE_HANDLERS[handler], given ?? {}, at) as Mapping | undefined
  if (config === undefined) return undefined
  const [one = '', other = ''] = GIVEN_TWICE[handler] ?? []
  if (config[one] !== undefined && config[other] !== undefined) {
    refuse(reading, [...at, other], 'invalid_value', `does not go with ${quoted(one)}. Keep one`)
  }
  if (handler === 'aws' && typeof config.call === 'string') checkParameters(reading, config.call, config, at)
  const [key, templates] = templatesOfCall(handler, config)
  checkSecrets(reading, templates as Json | undefined, [...at, key])
  const known = knownCall(reading, handler, config)
  if (known !== undefined && 'problem' in known) {
    const { problem, hint } = known
    reading.problems.push({ code: 'unknown_call', path: at, say: ({ who }) => ({ text: `${who}: ${problem}`, hint }) })
  }
  return config
}

function knownCall({ steps = {} }: Reading, handler: NativeHandler, config: Mapping) {
  const name = callNameOf(handler, config)
  return Object.hasOwn(steps, name) ? steps[name] : undefined
}

/** What says on what a call works, and as whom, is the operator's: named by `resource`. */
function checkParameters(reading: Reading, call: string, config: Mapping, path: Path): void {
  const taken = takenParameter(call, (config.parameters ?? {}) as Mapping)
  if (taken === undefined) return
  const why = `is the operator's to give. Name it under integrations."${call}".resources in sluice.yaml, and say resource: NAME`
  refuse(reading, [...path, 'parameters', ...taken.split('.').slice(0, 1)], 'invalid_value', why, taken)
}

/** What a call is given stands in the history of the machine, for whoever may read that. */
function checkSecrets(reading: Reading, given: Json | undefined, path: Path): void {
  for (const at of secretsGiven(given, path)) {
    const why =
      'looks like a secret, and what a call is given stands in the history of the machine. Give it to what is called'
    refuse(reading, at, 'secret_in_document', why)
  }
}

function refuse({ problems }: Reading, path: Path, code: string, why: string, name = String(path.at(-1))): void {
  problems.push({
    code,
    path,
    say: ({ who }: Parameters<Problem['say']>[0]) => ({ text: `${who}: ${quoted(name)} ${why}` }),
  })
}
