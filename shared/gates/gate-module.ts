/**
 * What a gate of a project is between its file and its verdict (docs/adr/0072): how a document names it, and its limits.
 * Nothing else is here, since the isolate's child loads it.
 */

/** The script of a gate leaves what its module exports under this name. */
export const GATE_GLOBAL = 'sluice_gate'

/** Limits of one module and of what it answers (docs/limits-and-costs.md). */
export const GATE_LIMITS = {
  /** Computing time and heap of one call. */
  ms: 1_000,
  mb: 64,
  /** Of a script with all it imports. */
  bytes: 1_048_576,
  path_characters: 100,
  params_characters: 65_536,
  issues: 20,
  /** Ports that `reads` may name. */
  ports: 50,
  reason_characters: 10_000,
  evidence_characters: 65_536,
  /** Different modules, and different checks by them, of one document. */
  modules: 20,
  checks: 200,
} as const

/** Whether a gate's type is meant to be a file: no type of ours has a slash or such an ending. */
export function isModulePath(type: unknown): type is string {
  return typeof type === 'string' && (type.includes('/') || /\.[cm]?[jt]sx?$/.test(type))
}

/** Why a path cannot be that of a module; the text goes on from the place in the document. */
export function modulePathProblem(path: string): { readonly text: string; readonly hint?: string } | undefined {
  if (path.length > GATE_LIMITS.path_characters)
    return { text: `is a path of ${path.length} characters; the limit is ${GATE_LIMITS.path_characters}` }
  if (!/\.(?:ts|js|mjs)$/.test(path)) return { text: 'does not name a module: its name ends in .ts, .js or .mjs' }
  if (path.split('/').includes('..') || path.startsWith('/') || path.includes('\\'))
    return { text: 'leads out of the project; a module lies below the folder of sluice.yaml, with no ".." on the way' }
  if (PATH.test(path)) return undefined
  if (PATH.test(`./${path}`)) return { text: 'must begin with "./"', hint: `Write "./${path}".` }
  return { text: 'has other characters than letters, digits, dots, dashes and underscores between its slashes' }
}

/** The same for editors. */
export const MODULE_PATTERN = '^\\./(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*/)*[A-Za-z0-9_-][A-Za-z0-9_.-]*\\.(?:ts|js|mjs)$'

const PATH = new RegExp(MODULE_PATTERN)
