import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { buildApp } from '../../../infra/aws/build-app.ts'
import { readDeploySettings } from '../../../infra/aws/deploy-settings.ts'
import {
  type DeployedDag,
  gateScripts,
  projectGatesOf,
  readDeployedDags,
  withToldEnds,
} from '../../../infra/aws/deployed-dags.ts'
import { bundleSteps, readStageSteps, withDescribedSteps } from '../../../infra/aws/deployed-steps.ts'
import { requireQuotas } from '../../../infra/aws/measure-quotas.ts'
import { stageNames } from '../../../infra/aws/names.ts'
import { readStageSettings, withCdkContext } from '../../../infra/aws/stage-settings.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { type Assembly, ROOT, readAssembly } from './assembly.ts'
import { bundled } from './bundled.ts'

/** A synthesis of this process: its constructs besides its files. */
export interface Synthesized extends Assembly {
  readonly app: App
  /** `<built>/<name>/index.mjs`. */
  readonly built: string
  readonly dags: readonly DeployedDag[]
  remove(): void
}

/** The context of cdk.json: what the CDK CLI gives to the app. */
export function cdkContext(): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8')).context
}

/** Templates say the same of either, and bundles take seconds: only who runs or reads code needs it. */
type Code = 'bundled' | 'placeholders'

/** The app as `npm run synth` makes it, in this process: assets and templates in a folder of its own. */
export async function synthesize(
  context: Readonly<Record<string, unknown>> = {},
  settings = readStageSettings(ROOT, { stage: 'dev' }),
  code: Code = 'bundled',
  project = ROOT,
): Promise<Synthesized> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-synthesized-'))
  const made = await synthesizeInto(dir, { context, settings, code, project })
  const remove = () => rmSync(dir, { recursive: true, force: true })
  return { ...made, ...readAssembly(join(dir, 'out')), built: join(dir, 'functions'), remove }
}

interface SynthesisParts {
  readonly context: Readonly<Record<string, unknown>>
  readonly settings: Settings
  readonly code: Code
  /** The folder whose documents and steps are deployed. */
  readonly project?: string
}

/** A file for each function where its bundle would be: `<dir>/functions/<name>/index.mjs`. */
export function writePlaceholders(dir: string): void {
  for (const { name } of FUNCTIONS) {
    mkdirSync(join(dir, 'functions', name), { recursive: true })
    writeFileSync(join(dir, 'functions', name, 'index.mjs'), `// ${name}\n`)
  }
}

/** Its files come into `<dir>/out`. */
export async function synthesizeInto(
  dir: string,
  { context, settings: given, code, project = ROOT }: SynthesisParts,
): Promise<Pick<Synthesized, 'app' | 'dags'>> {
  const app = new App({
    outdir: join(dir, 'out'),
    analyticsReporting: false,
    context: { ...cdkContext(), ...context },
  })
  const deploy = readDeploySettings((key) => app.node.tryGetContext(key))
  const own = withCdkContext(given, deploy)
  const stage = await readStageSteps(project, own)
  const described = withDescribedSteps(own, stage)
  const gates = await projectGatesOf(project, [join(project, 'dags')], described.gates)
  const dags = readDeployedDags(join(project, 'dags'), project, described, stage.known, gates)
  const settings = withToldEnds(described, dags)
  if (code === 'placeholders') writePlaceholders(dir)
  else
    symlinkSync(
      (await bundled({ settings, dags, gates: gateScripts(gates), names: stageNames(deploy.stage) })).built,
      join(dir, 'functions'),
      'dir',
    )
  await bundleSteps(join(dir, 'steps'), project, stage)
  buildApp({ app, deploy, settings, dags, steps: stage.steps, calls: stage.calls, built: dir })
  requireQuotas(app.synth())
  return { app, dags }
}
