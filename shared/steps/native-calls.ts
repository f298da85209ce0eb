import { type CallName, callOnAws, readCallName } from '../dag/native-call.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { didYouMean, listed, suggest } from '../text/wording.ts'
import type { DescribedStep, KnownSteps, UnknownStep } from './described-step.ts'
import { type CallRight, type DeployedAt, findIntegration } from './integrations.ts'
import type { CallsSettings, ContainerSettings, ResourceSettings } from './native-settings.ts'
import type { StepGrant } from './settings.ts'

/** Files below functions/ that make calls from the local place, loaded with the first of them: they need the AWS SDK. */
export const CALL_FILES = { lambda: 'aws/invoke-function.ts' } as const

type Found<T> = { readonly found: T } | UnknownStep

/** What AWS does for calls by these names, as the settings of a stage have it, or why there is none of a name. */
export function describeNativeCalls(settings: CallsSettings, names: readonly string[]): KnownSteps {
  return Object.fromEntries(
    names.flatMap((name) => {
      const call = readCallName(name)
      return call === undefined ? [] : [[name, describeNativeCall(settings, call)]]
    }),
  )
}

/** The same in a deployment: the role of its machines may make the calls of the documents it was deployed with, and no other. */
export function describeDeployedCalls(
  settings: CallsSettings,
  names: readonly string[],
  deployed: readonly string[],
): KnownSteps {
  const known = describeNativeCalls(settings, names)
  return Object.fromEntries(
    Object.entries(known).map(([name, call]) => {
      if ('problem' in call || deployed.includes(callOnAws(name))) return [name, call]
      const hint = 'Deploy a document that makes it.'
      return [name, { problem: 'no document of this deployment makes this call, so its machines may not', hint }]
    }),
  )
}

export function describeNativeCall(settings: CallsSettings, call: CallName): DescribedStep | UnknownStep {
  if (call.handler === 'aws') {
    const made = findResource(settings, call)
    if ('problem' in made) return made
    return native({ call: call.call, parameters: made.found?.parameters ?? {} })
  }
  if (call.handler === 'container') {
    const made = findContainer(settings, call.name)
    if ('problem' in made) return made
    if (made.found.aws === undefined) {
      const problem = `container "${call.name}" has no cluster to run in`
      const hint = `Add containers: { ${call.name}: { aws: { cluster: ARN, subnets: [..] } } } to the settings of the stage.`
      return { problem, hint }
    }
    return native({ container: identityOf(made.found) })
  }
  const made = findFunction(settings, call.name)
  if ('problem' in made) return made
  const { arn } = made.found
  if (arn !== undefined) return native({ function: arn })
  const hint = `Add functions: { ${call.name}: { arn: ARN } } to the settings of the stage.`
  return { problem: `function "${call.name}" has no ARN`, hint }
}

function native(of: Json): DescribedStep {
  return { kind: 'native', hash: sha256(canonicalJson(of)), effect: 'again' }
}

/** Which container it is: other code, or another command, is another one. */
export function identityOf({ image, command, env }: ContainerSettings): Json {
  return { image, command: [...command], env }
}

export function findFunction({ functions }: Pick<CallsSettings, 'functions'>, name: string) {
  return findNamed(functions, name, 'function', 'functions')
}

export function findContainer({ containers }: Pick<CallsSettings, 'containers'>, name: string) {
  return findNamed(containers, name, 'container', 'containers')
}

function findNamed<T>(all: Readonly<Record<string, T>>, name: string, what: string, key: string): Found<T> {
  const found = Object.hasOwn(all, name) ? all[name] : undefined
  if (found !== undefined) return { found }
  const names = Object.keys(all)
  const hint = didYouMean(suggest(name, names)) ?? `Add it under ${key} in sluice.yaml.`
  return { problem: `there is no ${what} "${name}" in the settings; there are ${listed(names)}`, hint }
}

type AwsCall = Extract<CallName, { handler: 'aws' }>

/** What the settings say of a call: the resource it names, or nothing where it is of none and its rights are stated. */
export function findResource(
  { integrations }: Pick<CallsSettings, 'integrations'>,
  { call, resource }: AwsCall,
): Found<ResourceSettings | undefined> {
  const { resources = {}, grants = [] } = Object.hasOwn(integrations, call) ? (integrations[call] ?? {}) : {}
  const known = findIntegration(call)
  if (resource !== undefined) {
    const made = findNamed(resources, resource, `resource of ${call}`, `integrations."${call}".resources`)
    if ('problem' in made || known !== undefined || made.found.grants.length + grants.length > 0) return made
    return unstated(call)
  }
  if (known !== undefined && known.names.length > 0) {
    const names = listed(Object.keys(resources))
    const problem = `${call} works on a resource that the operator names; there are ${names}`
    return { problem, hint: 'Add resource: NAME to config.' }
  }
  return known === undefined && grants.length === 0 ? unstated(call) : { found: undefined }
}

function unstated(call: string): UnknownStep {
  const hint = `Add integrations: { "${call}": { grants: [{ actions: [..], resources: [..] }] } } to the settings.`
  return { problem: `what ${call} needs is not known here, so the settings have to state it`, hint }
}

/** What the machine's role needs for calls by these names: nothing for what the settings do not know. */
export function rightsOfCalls(
  settings: CallsSettings,
  names: readonly string[],
  at: DeployedAt & { taskOf(container: string): readonly CallRight[] },
): readonly CallRight[] {
  return [...new Set(names.map(callOnAws))].flatMap((name) => {
    const call = readCallName(name)
    if (call === undefined) return []
    if (call.handler === 'container') return at.taskOf(call.name)
    if (call.handler === 'lambda') {
      const made = findFunction(settings, call.name)
      const arn = 'found' in made ? made.found.arn : undefined
      return arn === undefined ? [] : [{ actions: ['lambda:InvokeFunction'], resources: [arn] }]
    }
    return rightsOfCall(settings, call, at)
  })
}

function rightsOfCall(settings: CallsSettings, call: AwsCall, at: DeployedAt): readonly CallRight[] {
  const made = findResource(settings, call)
  if ('problem' in made) return []
  const { parameters = {}, pass_roles = [], grants = [] } = made.found ?? {}
  const own = settings.integrations[call.call]?.grants ?? []
  const known = made.found === undefined ? [] : (findIntegration(call.call)?.rights(parameters, at) ?? [])
  const passed = pass_roles.length === 0 ? [] : [{ actions: ['iam:PassRole'], resources: pass_roles }]
  return [...known, ...passed, ...[...own, ...grants].map(rightOfGrant)]
}

function rightOfGrant({ actions, resources, reason }: StepGrant): CallRight {
  return { actions, resources, ...(reason === undefined ? {} : { reason }) }
}
