import { realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildFailure, type BuildOptions, build, type Plugin } from 'esbuild'
import { Fault } from '../../shared/errors.ts'
import { sha256 } from '../../shared/text/hash.ts'

/** A module of a project as one text. */
export interface BundledModule {
  /** An ES module that imports nothing but Node's own modules. */
  readonly text: string
  /** Hex sha256 of the text: which code a run began with. */
  readonly hash: string
  /** From the text to the sources, for who reads where an error happened. */
  readonly map: string
  /** The files it is made of, absolute: a change of one makes another module. */
  readonly files: readonly string[]
}

/** Bytes of one bundled module. */
const MOST_BYTES = 20_971_520

/**
 * Bundles a file of a project with everything it imports, the same in both places: types are stripped, nothing is looked up
 * when it runs, and the same sources make the same text wherever the project lies. `sluice` and `zod` are the running
 * package's own where the project has not installed them. `root`: the folder of sluice.yaml; `path`: below it, like
 * `./steps/parse.ts`. Fault InvalidInput module_unreadable or module_broken, with the place.
 */
export async function bundleModule(root: string, path: string): Promise<BundledModule> {
  return bundled(root, path, { entryPoints: [moduleFile(root, path)] })
}

/**
 * The same of all that a package the project has installed exports by name. Fault InvalidInput module_broken: it is not
 * installed there, or cannot be bundled.
 */
export async function bundlePackage(root: string, name: string): Promise<BundledModule> {
  const contents = `export * from ${JSON.stringify(name)}`
  return bundled(root, name, { stdin: { contents, resolveDir: root, sourcefile: 'package.mjs' } })
}

type Entry = Pick<BuildOptions, 'entryPoints' | 'stdin'>

async function bundled(root: string, path: string, entry: Entry): Promise<BundledModule> {
  const made = await bundle(root, path, entry, {
    sourcemap: 'external',
    sourcesContent: false,
    format: 'esm',
    keepNames: true,
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(${OWN_URL});`,
    },
  })
  const output = (ending: string) => made.outputFiles.find((one) => one.path.endsWith(ending))?.text ?? ''
  const [text, map] = [output('.mjs'), output('.map')]
  if (text.length > MOST_BYTES) {
    const message = `Cannot take module "${path}": with what it imports it has ${text.length} bytes; at most ${MOST_BYTES} are allowed. Import less of it, or make it a program.`
    throw new Fault('InvalidInput', 'module_broken', message)
  }
  const files = Object.keys(made.metafile.inputs).map((name) => resolve(root, name))
  return { text, hash: sha256(text), map, files }
}

/**
 * The same as a script that leaves what the module exports in a global and has nothing of Node: `imports` names what it
 * still wants to load, which a script cannot. Faults as bundleModule().
 */
export async function bundleScript(
  root: string,
  path: string,
  globalName: string,
): Promise<{ readonly text: string; readonly imports: readonly string[] }> {
  const entry = { entryPoints: [moduleFile(root, path)] }
  const script = { format: 'iife', globalName, minifyIdentifiers: true } as const
  const { outputFiles, metafile } = await bundle(root, path, entry, script)
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map((one) => one.path))
  return { text: outputFiles[0]?.text ?? '', imports }
}

async function bundle(
  root: string,
  path: string,
  entry: Entry,
  options: Omit<BuildOptions, keyof ReturnType<typeof fixed>>,
) {
  return build({ ...options, ...fixed(root), ...entry }).catch((error: unknown) => {
    throw broken(path, error)
  })
}

function fixed(root: string) {
  return {
    absWorkingDir: root,
    outfile: join(root, 'module.mjs'),
    write: false as const,
    bundle: true,
    platform: 'node' as const,
    target: 'node24',
    // Comments name the paths of sources: the text has to be the same wherever they lie.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none' as const,
    metafile: true as const,
    logLevel: 'silent' as const,
    mainFields: ['module', 'main'],
    plugins: [ownPackages()],
  } satisfies BuildOptions
}

/** The file itself: below the project's folder, also where a link leads. Fault InvalidInput module_unreadable. */
function moduleFile(root: string, path: string): string {
  const file = resolve(root, path)
  const away = relative(realpathSync(root), realPathOf(file, path))
  if (away !== '' && !away.startsWith(`..${sep}`) && away !== '..' && !isAbsolute(away)) return file
  throw unreadable(path, 'it leads out of the folder of sluice.yaml')
}

function realPathOf(file: string, path: string): string {
  try {
    if (statSync(file).isFile()) return realpathSync(file)
  } catch (cause) {
    throw unreadable(path, 'there is no such file below the folder of sluice.yaml', cause)
  }
  throw unreadable(path, 'it is no file')
}

function unreadable(path: string, seen: string, cause?: unknown): Fault {
  const message = `Cannot take module "${path}": ${seen}. Name a file like ./steps/parse.ts.`
  return new Fault('InvalidInput', 'module_unreadable', message, cause === undefined ? {} : { cause })
}

/** The first error, where it is: a bundler's own words say what is not found or not understood. */
function broken(path: string, error: unknown): Fault {
  const [first] = (error as Partial<BuildFailure>).errors ?? []
  const at = first?.location
  const place = at === null || at === undefined ? '' : ` (${at.file}:${at.line}:${at.column + 1})`
  const seen = first === undefined ? String(error) : `${first.text}${place}`
  const message = `Cannot take module "${path}": ${seen}. Mend it, or install what it imports.`
  return new Fault('InvalidInput', 'module_broken', message, { cause: error })
}

/** Of a bundled module, not of the file that writes it: put together, so that scripts/build.ts leaves it alone. */
export const OWN_URL = ['import', 'meta', 'url'].join('.')

/** A source of ours (`functions/isolate/worker.ts`) as it lies here: in a package, the JavaScript of it. */
export function ownSource(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}

/** The packages every module may import, installed or not. */
const OWN = /^(?:sluice|zod)(?:\/.*)?$/
const PACKAGE = join(import.meta.dirname, '../..')

/** Answers `sluice` and `zod` from the project, else from the running package. */
export function ownPackages(): Plugin {
  const skip = { own: true }
  return {
    name: 'own-packages',
    setup(bundler) {
      bundler.onResolve({ filter: OWN }, async ({ path, resolveDir, kind, pluginData }) => {
        if (pluginData === skip) return undefined
        const found = await bundler.resolve(path, { resolveDir, kind, pluginData: skip })
        if (found.errors.length === 0) return found
        if (path === 'sluice') return { path: ownSource('clients/sdk/sluice.ts') }
        return bundler.resolve(path, { resolveDir: dirname(zodPath()), kind, pluginData: skip })
      })
    },
  }
}

/** Where zod lies: beside the package, or in it. */
function zodPath(): string {
  return createRequire(join(PACKAGE, 'package.json')).resolve('zod')
}
