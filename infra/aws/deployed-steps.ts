import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { callOnAws, readCallName } from '../../shared/dag/native-call.ts'
import { stepsNamed } from '../../shared/document/parse.ts'
import { Fault } from '../../shared/errors.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { type DescribedStep, type KnownSteps, stepSlug } from '../../shared/steps/described-step.ts'
import { describeNativeCalls } from '../../shared/steps/native-calls.ts'
import { type StepSettings, settingsOfStep } from '../../shared/steps/settings.ts'
import { OWN_URL, ownSource } from '../modules/bundle-module.ts'
import { openProjectSteps, type ProjectSteps } from '../modules/project-steps.ts'
import { BUNDLE_OPTIONS, ownSources } from './bundle.ts'

/** A step that a deployed document names, as it is deployed: a function and a role of its own. */
export interface DeployedStep {
  readonly name: string
  readonly slug: string
  readonly described: DescribedStep
  readonly settings: StepSettings
  /** Of a program: its command, and the files it consists of, relative to the project. */
  readonly program?: { readonly exec: readonly string[]; readonly files: readonly string[] }
}

/** The steps of a stage's documents, and the project they are of. */
export interface StageSteps {
  readonly steps: readonly DeployedStep[]
  /** What a parser knows of every step that is named, or why it does not. */
  readonly known: KnownSteps
  /** What the documents have AWS call, each once (shared/dag/native-call.ts). */
  readonly calls: readonly string[]
  readonly project: ProjectSteps
}

/**
 * Reads which steps the documents of these folders name, and what each is. One that cannot be taken is left out: reading
 * the document tells why, with file, line and fix.
 */
export async function readStageSteps(root: string, settings: Settings): Promise<StageSteps> {
  const project = openProjectSteps(root, settings)
  const documents = settings.dags.flatMap((dir) => {
    const files = readdirSync(join(root, dir)).filter((file) => /\.ya?ml$/.test(file))
    return files.map((file) => readFileSync(join(root, dir, file), 'utf8'))
  })
  const names = [...new Set(documents.flatMap(stepsNamed))].toSorted()
  const calls = names.filter((name) => readCallName(name) !== undefined)
  const own = await project.describe(names.filter((name) => readCallName(name) === undefined))
  const known = { ...own, ...describeNativeCalls(settings, calls) }
  const steps = Object.entries(own).flatMap(([name, described]): DeployedStep[] => {
    if ('problem' in described) return []
    const program = settings.programs[name]
    const files = program === undefined ? {} : { program: { exec: program.exec, files: project.programFiles(name) } }
    return [{ name, slug: stepSlug(name), described, settings: settingsOfStep(settings, name), ...files }]
  })
  for (const step of steps) requireRunnable(step)
  return { steps, known, calls: [...new Set(calls.map(callOnAws))], project }
}

/** Commands that Lambda's Node.js runtime has. */
const THERE = new Set(['node', 'sh', 'bash'])

/** Fault InvalidInput bad_settings: the command of a program is nothing its function would find. */
function requireRunnable({ name, program, settings }: DeployedStep): void {
  const [command = ''] = program?.exec ?? ['node']
  if (THERE.has(command) || settings.aws.layers.length > 0) return
  if (program?.files.some((file) => file === command.replace(/^\.\//, '')) === true) return
  const message = `Cannot deploy step "${name}": its function would not find "${command}", which is no file of the project and not in Lambda's Node.js runtime. Name a layer that has it, and its path: steps: { ${name}: { aws: { layers: [ARN] } } } and exec: [/opt/bin/${command}, ..]; or a file of the project.`
  throw new Fault('InvalidInput', 'bad_settings', message)
}

/** The settings of a stage, in which its functions find what its steps are. */
export function withDescribedSteps(
  settings: Settings,
  { steps, calls }: Pick<StageSteps, 'steps' | 'calls'>,
): Settings {
  if (steps.length + calls.length === 0) return settings
  const described = steps.map((step) => [step.name, step.described])
  return { ...settings, described_steps: { ...Object.fromEntries(described), ...describeNativeCalls(settings, calls) } }
}

/**
 * Bundles the functions of steps into `<out>/<slug>/`: the entry with what it says of the step, the program of a step's
 * process, and the step's own code beside them.
 */
export async function bundleSteps(out: string, root: string, { steps, project }: StageSteps): Promise<void> {
  for (const step of steps) {
    const folder = join(out, step.slug)
    mkdirSync(folder, { recursive: true })
    if (step.program === undefined) {
      const { text, map, hash } = await project.module(step.name)
      if (hash !== step.described.hash) throw changedMeanwhile(step.name)
      writeFileSync(join(folder, 'step.mjs'), text)
      writeFileSync(join(folder, 'step.mjs.map'), map)
    }
    for (const file of step.program?.files ?? []) {
      mkdirSync(join(folder, 'project', dirname(file)), { recursive: true })
      cpSync(join(root, file), join(folder, 'project', file))
    }
    await build({
      ...BUNDLE_OPTIONS,
      stdin: { contents: entryOf(step), resolveDir: BUNDLE_OPTIONS.absWorkingDir, loader: 'js' },
      outfile: join(folder, 'index.mjs'),
      plugins: [ownSources()],
    })
    await build({
      ...BUNDLE_OPTIONS,
      entryPoints: [ownSource('functions/steps/run-step.ts')],
      outfile: join(folder, 'run-step.mjs'),
    })
  }
}

function changedMeanwhile(name: string): Fault {
  const message = `Cannot deploy step "${name}": its files changed while they were read. Synthesize again.`
  return new Fault('InvalidInput', 'module_broken', message)
}

function entryOf({ name, described, settings, program }: DeployedStep): string {
  const { env, secrets, memory_mb, grants } = settings
  const step = {
    name,
    hash: described.hash,
    ...(program === undefined ? {} : { exec: program.exec }),
    env,
    secrets,
    memory_mb,
    granted: grants.length > 0,
  }
  return [
    "import { stepHandler } from './functions/aws/step-entry.ts'",
    `import { ${secretsOpener(settings)} as secrets } from './functions/aws/secrets.ts'`,
    `const step = JSON.parse(${JSON.stringify(JSON.stringify(step))})`,
    // A bundle's own folder.
    `export const handler = stepHandler({ step, folder: new ${'URL'}('./', ${OWN_URL}), secrets })`,
    '',
  ].join('\n')
}

function secretsOpener({ secrets }: StepSettings): string {
  const keepers = new Set(Object.values(secrets).map(({ secret }) => secret?.split(':')[2]))
  if (keepers.has('ssm') && keepers.has('secretsmanager')) return 'openSecrets'
  if (keepers.has('ssm')) return 'openSsmSecrets'
  return keepers.has('secretsmanager') ? 'openManagerSecrets' : 'openNoSecrets'
}
