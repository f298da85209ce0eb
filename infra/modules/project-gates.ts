import { readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { Fault } from '../../shared/errors.ts'
import { GATE_GLOBAL, GATE_LIMITS, modulePathProblem } from '../../shared/gates/gate-module.ts'
import type { FoundModule, Modules } from '../../shared/ports/modules.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { didYouMean, suggest } from '../../shared/text/wording.ts'
import { bundleScript } from './bundle-module.ts'

/**
 * The gates below the folder of a project's sluice.yaml, read anew each time: a changed file is taken at the next run. A path
 * never leads out of the folder, links followed.
 */
export function folderModules(root: string): Modules {
  return { gate: (path) => readGate(root, path) }
}

async function readGate(root: string, path: string): Promise<FoundModule> {
  const wrong = modulePathProblem(path)
  if (wrong !== undefined) return { ok: false, code: 'bad_gate_module', ...wrong }
  try {
    const { text, imports } = await bundleScript(root, path, GATE_GLOBAL)
    return checked(text, imports)
  } catch (error) {
    if (!(error instanceof Fault && error.name === 'InvalidInput')) throw error
    const why = error.message
      .replace(/^Cannot take module "[^"]*": /, '')
      .replace(/\. (?:Mend it|Name a file|Import less).*$/, '')
    if (error.code !== 'module_unreadable') return refused(`cannot be taken: ${why}`)
    const near = suggest(path, modulesBelow(root))
    return { ...refused(`cannot be taken: ${why}`), code: 'gate_module_missing', hint: didYouMean(near) ?? WRITE_IT }
  }
}

const WRITE_IT = 'Write it: export default defineGate({ params, check }).'

/** What is left to load after bundling is of Node, or computed: a gate has none of that. */
function checked(text: string, [imported]: readonly string[]): FoundModule {
  if (imported !== undefined) return refused(`imports "${imported}", and a gate is pure: it has no modules of Node`)
  const bytes = Buffer.byteLength(text)
  if (bytes > GATE_LIMITS.bytes)
    return refused(`has ${bytes} bytes with all it imports; the limit is ${GATE_LIMITS.bytes}`)
  return { ok: true, text, hash: sha256(text) }
}

function refused(text: string): Extract<FoundModule, { ok: false }> {
  return { ok: false, code: 'bad_gate_module', text }
}

/** Files that could have been meant, in the folders that hold gates: those of packages are not, and there are not without end. */
function modulesBelow(root: string): readonly string[] {
  const found: string[] = []
  const open = [root]
  for (let folder = open.pop(); folder !== undefined && found.length < MOST_NAMES; folder = open.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true, encoding: 'utf8' })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.')) open.push(path)
      else if (/\.(?:ts|js|mjs)$/.test(entry.name)) found.push(`./${relative(root, path).split(sep).join('/')}`)
    }
  }
  return found.sort()
}

const MOST_NAMES = 1_000
