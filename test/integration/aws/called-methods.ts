import { join } from 'node:path'
import { build } from 'esbuild'
import { FUNCTIONS, type FunctionLine } from '../../../shared/catalog.ts'
import { ROOT } from './assembly.ts'

/** A call of a port's method in the code of a function. */
export interface CalledMethod {
  readonly port: string
  readonly method: string
  /** Files that hold such calls, relative to the repository. */
  readonly files: readonly string[]
}

/**
 * What is left of every handler when everything unused is shaken out: the code the Lambda runs, without adapters, by
 * name of the function.
 */
export async function shakenCode(): Promise<ReadonlyMap<string, string>> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries(FUNCTIONS.map(({ name, file }) => [name, join(ROOT, 'functions', file)])),
    outdir: join(ROOT, 'nowhere'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    write: false,
    logLevel: 'silent',
  })
  return new Map(outputFiles.map(({ path, text }) => [path.split('/').at(-1)?.replace(/\.js$/, '') ?? '', text]))
}

/** Calls of ports in such code; a port is always named after itself (`world.runs.head(`, `runs.head(`). */
export function calledMethods({ ports }: Pick<FunctionLine, 'ports'>, code: string): readonly CalledMethod[] {
  const found = new Map<string, CalledMethod & { readonly files: string[] }>()
  for (const { file, text } of modulesOf(code)) {
    for (const [, port = '', method = ''] of text.matchAll(CALL)) {
      // Who only reads documents holds the code of gates, and nothing that judges by it; who judges pure ones again asks nobody.
      if (OF_GATES.has(port) && !ports.includes('http') && !ports.includes('secrets')) continue
      const key = `${port}.${method}`
      const known = found.get(key) ?? { port, method, files: [] }
      if (!known.files.includes(file)) known.files.push(file)
      found.set(key, known)
    }
  }
  return [...found.values()]
}

/** What judges with somebody's help. */
const OF_GATES = new Set(['provider', 'http', 'shell'])

/** Ports that lead to AWS, with the methods that do not. */
const CALL =
  /\b(runs|objects|uploads|graph|search|indexing|machine|outbox|webhooks|buses|services|mcp|tokens|slack|provider|http|shell|health|anchors|waits|spending|triggers|hookKeys|drops|steps)\.(\w+)\(/g

/** esbuild writes the path before each module. */
function modulesOf(code: string) {
  return code
    .split(/^\/\/ (?=(?:functions|shared|infra)\/)/m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n')
      return { file: part.slice(0, end), text: part.slice(end) }
    })
}
