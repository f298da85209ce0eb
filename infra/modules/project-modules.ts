import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { build, type Message } from 'esbuild'
import { GATE_GLOBAL, GATE_LIMITS, modulePathProblem } from '../../shared/gates/gate-module.ts'
import type { FoundModule, Modules } from '../../shared/ports/modules.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { didYouMean, suggest } from '../../shared/text/wording.ts'
import { bundleModule } from './bundle-module.ts'

/**
 * The modules below the folder of a project's sluice.yaml, read anew each time: a changed file is taken at the next run.
 * A path never leads out of the folder, links followed.
 */
export function folderModules(root: string): Modules {
  return { gate: (path) => readGate(root, path) }
}

async function readGate(root: string, path: string): Promise<FoundModule> {
  const wrong = modulePathProblem(path)
  if (wrong !== undefined) return { ok: false, code: 'bad_gate_module', ...wrong }
  const place = placeOf(root, path)
  if (place === 'missing') return missing(root, path)
  if (place === 'outside')
    return {
      ok: false,
      code: 'bad_gate_module',
      text: 'leads out of the project by a link; a module lies below the folder of sluice.yaml',
    }
  try {
    return await asScript((await bundleModule(root, path)).text)
  } catch (cause) {
    return { ok: false, code: 'bad_gate_module', text: `cannot be read: ${buildProblem(cause)}` }
  }
}

function placeOf(root: string, path: string): 'inside' | 'outside' | 'missing' {
  try {
    const real = realpathSync(join(root, path))
    if (!real.startsWith(realpathSync(root) + sep)) return 'outside'
    return statSync(real).isFile() ? 'inside' : 'missing'
  } catch {
    return 'missing'
  }
}

function missing(root: string, path: string): FoundModule {
  const near = suggest(path, modulesBelow(root))
  const text = 'is no file below the folder of sluice.yaml'
  return {
    ok: false,
    code: 'gate_module_missing',
    text,
    hint: didYouMean(near) ?? `Write it: export default defineGate({ params, check }).`,
  }
}

/** Files that could have been meant: not those of packages, and not without end. */
function modulesBelow(root: string): readonly string[] {
  const found: string[] = []
  const open = [root]
  for (let folder = open.pop(); folder !== undefined && found.length < MOST_NAMES; folder = open.pop()) {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name)
      if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.')) open.push(path)
      else if (/\.(?:ts|js|mjs)$/.test(entry.name)) found.push(`./${relative(root, path).split(sep).join('/')}`)
    }
  }
  return found.sort()
}

const MOST_NAMES = 1_000

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

/**
 * What the isolate runs: one script that leaves its exports in a global and imports nothing. What is left to import after
 * bundling is of Node, or computed, and a gate has none of that.
 */
async function asScript(contents: string): Promise<FoundModule> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, loader: 'js' },
    bundle: true,
    format: 'iife',
    globalName: GATE_GLOBAL,
    external: ['*'],
    write: false,
    metafile: true,
    minify: true,
    target: 'node24',
    logLevel: 'silent',
  })
  const [imported] = Object.values(metafile.outputs).flatMap(({ imports }) => imports)
  if (imported !== undefined) {
    return {
      ok: false,
      code: 'bad_gate_module',
      text: `imports "${imported.path}"; a gate is pure and has no module of Node`,
    }
  }
  const text = outputFiles[0]?.text ?? ''
  const bytes = Buffer.byteLength(text)
  if (bytes <= GATE_LIMITS.bytes) return { ok: true, text, hash: sha256(text) }
  return {
    ok: false,
    code: 'bad_gate_module',
    text: `has ${bytes} bytes with all it imports; the limit is ${GATE_LIMITS.bytes}`,
  }
}

/** The first error of the bundler with its place, else whatever went wrong. */
function buildProblem(cause: unknown): string {
  const errors =
    typeof cause === 'object' && cause !== null && 'errors' in cause ? (cause.errors as readonly Message[]) : []
  const [first] = errors
  if (first === undefined) return cause instanceof Error ? cause.message : String(cause)
  const at =
    first.location === null ? '' : `${first.location.file}:${first.location.line}:${first.location.column + 1}: `
  return `${at}${first.text}`
}
