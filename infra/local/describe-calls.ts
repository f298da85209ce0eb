import { type CallName, readCallName } from '../../shared/dag/native-call.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { KnownSteps } from '../../shared/steps/described-step.ts'
import { describeNativeCall, findContainer, findFunction, findResource } from '../../shared/steps/native-calls.ts'
import { type ContainerEngine, describeContainer } from './containers.ts'

/** The part of the settings that says what does the work of calls here. */
type CallSettings = Pick<Settings, 'functions' | 'integrations' | 'containers'>

/** What this place knows of steps and calls by the names documents give them (shared/dag/native-call.ts). */
export async function describeCalls(
  settings: CallSettings,
  names: readonly string[],
  described: Described,
): Promise<KnownSteps> {
  const own = names.filter((name) => readCallName(name) === undefined)
  const known: Record<string, KnownSteps[string]> = { ...(await described.describeSteps(own)) }
  for (const name of names) {
    const call = readCallName(name)
    if (call !== undefined) known[name] = await describeCall(settings, call, described)
  }
  return known
}

interface Described {
  containers(): Promise<ContainerEngine>
  describeSteps(names: readonly string[]): Promise<KnownSteps>
}

/** What does the work of a call of AWS here: what stands in for it, a container, or, where the settings say so, AWS. */
async function describeCall(
  settings: CallSettings,
  call: CallName,
  { containers, describeSteps }: Described,
): Promise<KnownSteps[string]> {
  const found = await localWork(settings, call, containers)
  if (!('stand_in' in found)) return found
  const { [found.stand_in]: step } = await describeSteps([found.stand_in])
  if (step === undefined || 'problem' in step) {
    const why = (step?.problem ?? 'it is not there').replace(/[.?]$/, '')
    return { problem: `its stand-in "${found.stand_in}" cannot be taken: ${why}` }
  }
  // Its ports are its own: those of the block are what the call answers.
  const { kind, hash } = step
  return { kind, hash, effect: 'again', stand_in: found.stand_in }
}

async function localWork(
  settings: CallSettings,
  call: CallName,
  containers: Described['containers'],
): Promise<KnownSteps[string] | { readonly stand_in: string }> {
  if (call.handler === 'aws') return localAwsCall(settings, call)
  if (call.handler === 'container') {
    const made = findContainer(settings, call.name)
    if ('problem' in made) return made
    const ran = describeContainer(settings, call.name, await containers())
    const { local } = made.found
    return 'problem' in ran && local !== undefined ? { stand_in: local } : ran
  }
  const made = findFunction(settings, call.name)
  if ('problem' in made) return made
  const { local } = made.found
  if (local === 'aws') return describeNativeCall(settings, call)
  if (local !== undefined) return { stand_in: local }
  const hint = `Name what stands in for it, functions: { ${call.name}: { local: ./steps/stand-in.ts } }, or say local: aws.`
  return { problem: `function "${call.name}" is not called from this place`, hint }
}

/** The resources of a call are of a stage: here they are looked at only where the settings name some. */
function localAwsCall(
  settings: CallSettings,
  call: Extract<CallName, { handler: 'aws' }>,
): KnownSteps[string] | { readonly stand_in: string } {
  if (Object.hasOwn(settings.integrations, call.call)) {
    const found = findResource(settings, call)
    if ('problem' in found) return found
  }
  if (call.local !== undefined) return { stand_in: call.local }
  const hint = 'Name what stands in for it, config: { local: ./steps/stand-in.ts }.'
  return { problem: `${call.call} is not called from this place`, hint }
}
