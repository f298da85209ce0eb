import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { App } from 'aws-cdk-lib'
import { buildApp } from '../../../infra/aws/build-app.ts'
import { type DeployedDag, readDeployedDags } from '../../../infra/aws/deployed-dags.ts'
import { readDeploySettings } from '../../../infra/aws/settings.ts'
import { readStageSettings } from '../../../infra/aws/stage-settings.ts'
import type { Settings } from '../../../shared/settings.ts'

export const ROOT = resolve(import.meta.dirname, '../../..')
export const STACKS = ['SluiceData', 'SluiceMachines', 'SluiceApi'] as const

export interface Resource {
  readonly Type: string
  // The properties of a template are data of any shape; tests look at the parts they name.
  readonly Properties: Readonly<Record<string, unknown>>
  readonly DeletionPolicy?: string
}

export interface Synthesized {
  readonly app: App
  /** The folder with templates and assets. */
  readonly out: string
  /** `functions/<name>/index.mjs`. */
  readonly built: string
  readonly dags: readonly DeployedDag[]
  template(stack: (typeof STACKS)[number]): Readonly<Record<string, Resource>>
  /** Resources of a type in all stacks, with their logical ids. */
  all(type: string): readonly (Resource & { readonly id: string })[]
  remove(): void
}

/** The context of cdk.json: what the CDK CLI gives to the app. */
export function cdkContext(): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8')).context
}

/** The app as `npm run synth` makes it, in this process: bundles, assets and templates in a folder of its own. */
export async function synthesize(
  context: Readonly<Record<string, unknown>> = {},
  settings: Settings = readStageSettings(ROOT, { stage: 'dev' }),
): Promise<Synthesized> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-synthesized-'))
  const out = join(dir, 'out')
  const app = new App({ outdir: out, analyticsReporting: false, context: { ...cdkContext(), ...context } })
  const deploy = readDeploySettings((key) => app.node.tryGetContext(key))
  const dags = readDeployedDags(join(ROOT, 'dags'), ROOT, settings)
  await buildApp({ app, deploy, settings, dags, built: dir })
  app.synth()
  const read = (stack: string): Record<string, Resource> =>
    JSON.parse(readFileSync(join(out, `${stack}.template.json`), 'utf8')).Resources
  const templates = new Map<string, Record<string, Resource>>(STACKS.map((stack) => [stack, read(stack)]))
  const template = (stack: string) => templates.get(stack) ?? {}
  const all = (type: string) =>
    STACKS.flatMap((stack) => Object.entries(template(stack)).map(([id, resource]) => ({ ...resource, id }))).filter(
      (resource) => resource.Type === type,
    )
  const remove = () => rmSync(dir, { recursive: true, force: true })
  return { app, out, built: join(dir, 'functions'), dags, template, all, remove }
}

/** A value of a template as text: what CloudFormation would join, with `<name>` for what only AWS knows. */
export function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  const [[kind, of] = ['', undefined]] = Object.entries(value)
  if (kind === 'Ref') return `<${String(of).replace(/^AWS::/, '')}>`
  if (kind === 'Fn::GetAtt') return `<${(of as readonly string[]).join('.')}>`
  if (kind === 'Fn::Join') return (of as readonly [string, readonly unknown[]])[1].map(textOf).join('')
  if (kind === 'Fn::Sub') return String(of).replaceAll(/\$\{(?:AWS::)?(\w+)\}/g, '<$1>')
  throw new Error(`a template value nobody expected: ${JSON.stringify(value)}`)
}
