import type * as z from 'zod'
import type { Json } from '../canonical.ts'
import type { Gate } from '../gates/gate.ts'
import type { Program } from '../gates/programs.ts'
import type { Routing } from '../settings.ts'
import type { GateUse } from './dag.ts'
import { issueProblems } from './issue-problems.ts'
import type { Problem } from './report.ts'
import type { Path } from './source.ts'
import type { DagWarning } from './warnings.ts'
import { shown } from './wording.ts'

/** What the checks share: the problems found so far, the gates there are, and the providers when they are known. */
export interface Reading {
  readonly problems: Problem[]
  /** What a document without problems will suffer from. */
  readonly warnings: DagWarning[]
  /** Gates whose ports are looked at when every port has its type. */
  readonly gate_uses: PlacedGate[]
  /** What gates compile: checked last, here or in the isolate (parse.ts). */
  readonly programs: PlacedProgram[]
  /** What the gates read so far have cost (limits.ts). */
  readonly spent: { compiled_parts: number; program_characters: number; schema_nodes: number }
  readonly gates: {
    readonly gateOf: (type: string) => Gate<unknown> | undefined
    readonly gateTypes: () => readonly string[]
  }
  readonly providers?: readonly string[]
  /** Agents and providers of the place, when they are known. */
  readonly routing?: Routing
}

/** A gate and where its check stands, below its block. */
export interface PlacedGate {
  readonly use: GateUse
  readonly phase: 'pre' | 'post' | 'item'
  readonly path: Path
}

/** A program of a gate, with the problem that it does not compile. */
export interface PlacedProgram {
  readonly program: Program
  readonly refuse: (message: string) => Problem
}

export type Mapping = Readonly<Record<string, Json>>

/** A value its schema accepts; otherwise undefined, and each issue is a problem. */
export function readMember<S extends z.ZodType>(
  { problems }: Reading,
  schema: S,
  given: Json | undefined,
  path: Path,
): z.output<S> | undefined {
  const result = schema.safeParse(given)
  if (result.success) return result.data
  // One problem a place: the first rule that is broken is enough to go on with.
  const told = new Set<string>()
  for (const issue of result.error.issues) {
    const place = JSON.stringify(issue.path.map(String))
    if (!told.has(place)) problems.push(...issueProblems(issue, path, given, schema))
    told.add(place)
  }
  return undefined
}

/** A mapping as it is, or a problem. */
export function readMapping(reading: Reading, given: Json | undefined, path: Path): Mapping | undefined {
  // TypeScript does not take readonly lists out of Json by Array.isArray.
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given as Mapping
  wrong(reading, path, given, 'a mapping')
  return undefined
}

/** A list as it is, or a problem. */
export function readList(reading: Reading, given: Json | undefined, path: Path): readonly Json[] | undefined {
  if (Array.isArray(given)) return given
  wrong(reading, path, given, 'a list')
  return undefined
}

function wrong({ problems }: Reading, path: Path, given: Json | undefined, what: string): void {
  const hint = given === null ? `Give ${what}, or remove the key.` : undefined
  const say: Problem['say'] = ({ place }) => ({ text: `${place} must be ${what}, got ${shown(given)}`, hint })
  problems.push({ code: path.length === 0 ? 'not_a_mapping' : 'wrong_type', path, say })
}
