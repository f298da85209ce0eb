import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { describeModule } from '../../functions/steps/describe-module.ts'
import { Fault } from '../../shared/errors.ts'
import {
  type DescribedStep,
  isModulePath,
  type KnownSteps,
  type UnknownStep,
} from '../../shared/steps/described-step.ts'
import {
  type ProgramSettings,
  portsOfSettings,
  type StepsSettings,
  settingsOfStep,
} from '../../shared/steps/settings.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import { didYouMean, listed, suggest } from '../../shared/text/wording.ts'
import { type BundledModule, bundleModule } from './bundle-module.ts'

/** The steps of one project, as its files are now. */
export interface ProjectSteps {
  describe(names: readonly string[]): Promise<KnownSteps>
  /** The module of that name as it is now. Fault InvalidInput as bundleModule(). */
  module(name: string): Promise<BundledModule>
  /** The hash of a program's files as they are now. */
  programHash(name: string): string
  /** The files a program consists of, relative to the project. */
  programFiles(name: string): readonly string[]
}

/**
 * Steps below a folder: modules are bundled and loaded, once as long as none of their files changes; programs are what the
 * settings name. `runner`: the program of a step's process where it is not the source (a bundle).
 */
export function openProjectSteps(root: string, settings: StepsSettings, runner?: URL): ProjectSteps {
  const bundles = new Map<string, { readonly stamp: string; readonly module: BundledModule }>()
  const described = new Map<string, DescribedStep>()
  const module = async (name: string) => {
    const known = bundles.get(name)
    if (known !== undefined && stampOf(known.module.files) === known.stamp) return known.module
    const made = await bundleModule(root, name)
    bundles.set(name, { stamp: stampOf(made.files), module: made })
    return made
  }
  const describeOne = async (name: string): Promise<KnownSteps[string]> => {
    try {
      if (!isModulePath(name)) return describeProgram(root, settings, name)
      const code = await module(name)
      // It is loaded as it will be run: what it reads of its environment on the way is there.
      const { env } = settingsOfStep(settings, name)
      const key = `${name} ${code.hash}`
      const seen = described.get(key) ?? (await describeModule(name, { ...code, env }, runner))
      described.set(key, seen)
      return seen
    } catch (error) {
      if (error instanceof Fault && error.name === 'InvalidInput') {
        return unknown(root, Object.keys(settings.programs), name, error)
      }
      throw error
    }
  }
  return {
    module,
    programFiles: (name) => filesOfProgram(root, requireProgram(settings, name)),
    programHash: (name) => hashOfProgram(root, requireProgram(settings, name)),
    async describe(names) {
      const all: [string, KnownSteps[string]][] = []
      for (const name of names) all.push([name, await describeOne(name)])
      return Object.fromEntries(all)
    },
  }
}

/** Changes when one of the files does, or is gone. */
function stampOf(files: readonly string[]): string {
  return files
    .map((file) => {
      const seen = statSync(file, { throwIfNoEntry: false })
      return `${seen?.mtimeMs}/${seen?.size}`
    })
    .join()
}

/** Why there is none; of a name that nothing has, the one that was probably meant. */
function unknown(root: string, programs: readonly string[], name: string, { code, message }: Fault): UnknownStep {
  const problem = message.replace(/^Cannot take module "[^"]*": /, '')
  const isNamed = code === 'unknown_step' || (code === 'module_unreadable' && !existsSync(join(root, name)))
  const hint = isNamed ? didYouMean(suggest(name, [...programs, ...modulesBeside(root, name)])) : undefined
  return hint === undefined ? { problem } : { problem, hint }
}

function modulesBeside(root: string, name: string): readonly string[] {
  const folder = join(root, name, '..')
  if (!existsSync(folder)) return []
  const there = readdirSync(folder, { withFileTypes: true, encoding: 'utf8' }).filter((entry) => entry.isFile())
  const names = there.map((entry) => `./${relative(root, join(folder, entry.name)).split(sep).join('/')}`)
  return names.filter(isModulePath)
}

function describeProgram(root: string, settings: StepsSettings, name: string): DescribedStep {
  const program = requireProgram(settings, name)
  const inputs = portsOfSettings(program.inputs)
  const outputs = portsOfSettings(program.outputs)
  return {
    kind: 'program',
    hash: hashOfProgram(root, program),
    ...(inputs === undefined ? {} : { inputs }),
    ...(outputs === undefined ? {} : { outputs }),
    effect: program.effect,
  }
}

function requireProgram({ programs }: StepsSettings, name: string): ProgramSettings {
  const program = Object.hasOwn(programs, name) ? programs[name] : undefined
  if (program !== undefined) return program
  const known = Object.keys(programs)
  const message = `there is no program of that name in the settings; there are ${listed(known)}. Add programs: { ${name}: { exec: [..] } } to sluice.yaml.`
  throw new Fault('InvalidInput', 'unknown_step', message)
}

/** Of its command, and of every file of the project that the command or `files` names. */
function hashOfProgram(root: string, program: ProgramSettings): string {
  const hashes = filesOfProgram(root, program).map((path) => [path, sha256(readFileSync(join(root, path)))])
  return sha256(canonicalJson({ exec: [...program.exec], files: hashes }))
}

function filesOfProgram(root: string, { exec, files }: ProgramSettings): readonly string[] {
  const named = [...exec.filter((part) => isFileBelow(root, part)), ...files].flatMap((path) => filesBelow(root, path))
  return [...new Set(named)].toSorted()
}

function isFileBelow(root: string, path: string): boolean {
  return isBelow(root, path) && statSync(resolve(root, path), { throwIfNoEntry: false })?.isFile() === true
}

function isBelow(root: string, path: string): boolean {
  const away = relative(root, resolve(root, path))
  return away !== '' && away !== '..' && !away.startsWith(`..${sep}`) && !isAbsolute(away)
}

/** Files a program has at most: hashing reads all of them. */
const MOST_FILES = 5_000

function filesBelow(root: string, path: string): readonly string[] {
  const full = resolve(root, path)
  const seen = isBelow(root, path) ? statSync(full, { throwIfNoEntry: false }) : undefined
  if (seen === undefined) {
    const message = `"${path}" under files is not below the folder of sluice.yaml, or not there. Name files and folders of the project.`
    throw new Fault('InvalidInput', 'module_unreadable', message)
  }
  if (seen.isFile()) return [relative(root, full).split(sep).join('/')]
  const all = readdirSync(full, { recursive: true, withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('__pycache__'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
  if (all.length <= MOST_FILES) return all
  const message = `"${path}" holds ${all.length} files; at most ${MOST_FILES} are allowed. Name the folders it needs.`
  throw new Fault('InvalidInput', 'module_unreadable', message)
}
