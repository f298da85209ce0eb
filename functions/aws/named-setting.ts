import { Fault } from '../../shared/errors.ts'
import type { AwsSettings } from './settings.ts'

/** Fault Bug setting_missing, naming the value. */
export function required(settings: AwsSettings, name: OptionalName): string {
  return settings[name] ?? refuseMissing(name)
}

/** ARN of a function of the catalog. Fault Bug setting_missing, naming the value. */
export function functionArn(settings: AwsSettings, name: string): string {
  return settings.functions[name] ?? refuseMissing(envName(name))
}

type OptionalName = 'TABLE' | 'BUCKET' | 'ANCHORS' | 'STATE_MACHINE_ROLE_ARN'

/** `run-block` is RUN_BLOCK_ARN. */
export function envName(functionName: string): string {
  return `${functionName.toUpperCase().replaceAll('-', '_')}_ARN`
}

function refuseMissing(name: string): never {
  const message = `Cannot go on: environment value ${name} is missing in this function. Deploy again; infra/aws must give it to every function whose catalog line lists a port that needs it.`
  throw new Fault('Bug', 'setting_missing', message, { facts: { setting: name } })
}
