import * as z from 'zod'
import { PORT_TYPES } from '../dag/dag.ts'
import { STEP_PATH } from '../dag/handlers.ts'
import { isName, NAME_RULE } from '../limits.ts'
import { KeySchema } from '../ports/secrets.ts'
import { isModulePath, type StepPorts } from './described-step.ts'
import { STEP_LIMITS } from './step-order.ts'

/** Steps and programs a place may name. */
const MOST_STEPS = 200

const pathRule = './ and a path below the folder of sluice.yaml, of letters, digits, "_", "." and "-"'
const stepName = z.string().max(200).regex(STEP_PATH, pathRule)

const variable = z.string().regex(/^[A-Z_][A-Z0-9_]{0,127}$/, 'capital letters, digits and "_"')
export const variables = <T extends z.ZodType>(value: T) =>
  z.record(variable, value).refine((all) => Object.keys(all).length <= 50, 'at most 50')

const PortSchema = z.union([
  z.enum(PORT_TYPES),
  z.strictObject({ type: z.enum(PORT_TYPES), required: z.boolean().default(true), description: z.string().optional() }),
])
const PortsSchema = z.record(z.string().refine(isName, NAME_RULE), PortSchema)

const ProgramSchema = z.strictObject({
  /** The command and its arguments; it is started in the folder of sluice.yaml, and no shell reads it. */
  exec: z.array(z.string().min(1).max(1_000)).min(1).max(50),
  /** Files and folders that are part of its version, besides those `exec` names. */
  files: z.array(z.string().min(1).max(200)).max(100).default([]),
  /** Its ports, where documents are to be checked against them. */
  inputs: PortsSchema.optional(),
  outputs: PortsSchema.optional(),
  /** `once`: a person is asked before an attempt that was lost is made again. */
  effect: z.enum(['again', 'once']).default('again'),
})
export type ProgramSettings = z.infer<typeof ProgramSchema>

/** `programs` in sluice.yaml: commands that blocks may name as their handler (docs/steps.md, "Programs"). */
export const ProgramsSettingsSchema = z
  .record(
    stepName.refine((name) => !isModulePath(name), 'a module (.ts, .js, .mjs) needs no command: leave it out here'),
    ProgramSchema,
  )
  .refine((all) => Object.keys(all).length <= MOST_STEPS, `at most ${MOST_STEPS} programs`)

const action = z.string().regex(/^[a-z0-9-]+:(\*|[A-Za-z*]+)$/, 'an action of IAM, like sqs:SendMessage')
const resource = z.string().regex(/^(\*|arn:aws[a-z-]*:.{1,2000})$/, 'the ARN of a resource')

export const GrantSchema = z
  .strictObject({
    actions: z.array(action).min(1).max(50),
    resources: z.array(resource).min(1).max(50),
    /** Why an action or a resource is a `*`: shown by `sluice deploy`. */
    reason: z.string().min(10).max(300).optional(),
  })
  .refine(({ actions, resources, reason }) => reason !== undefined || ![...actions, ...resources].some(isWide), {
    error: 'a "*" needs a reason: name the actions and the ARNs, or say under "reason" why it cannot be narrower',
  })

function isWide(text: string): boolean {
  return text === '*' || text.includes(':*') || text.endsWith('*')
}
export type StepGrant = z.infer<typeof GrantSchema>

/** Of its function on AWS. */
const FunctionSchema = z.strictObject({
  /** Megabytes of the function; of the step itself it is `memory_mb`. */
  memory_mb: z.int().min(256).max(10_240).optional(),
  architecture: z.enum(['arm64', 'x86_64']).default('arm64'),
  /** Megabytes of /tmp. */
  storage_mb: z.int().min(512).max(10_240).default(512),
  subnets: z
    .array(z.string().regex(/^subnet-[0-9a-f]{8,17}$/))
    .max(16)
    .default([]),
  security_groups: z
    .array(z.string().regex(/^sg-[0-9a-f]{8,17}$/))
    .max(5)
    .default([]),
  layers: z
    .array(z.string().regex(/^arn:aws[a-z-]*:lambda:/))
    .max(5)
    .default([]),
  /** How many of it run at once, kept free for it. */
  reserved_concurrency: z.int().min(1).max(1_000).optional(),
})

const StepSchema = z.strictObject({
  /** Its whole environment, besides what finds programs and files. */
  env: variables(z.string().max(4_000)).default({}),
  /** Where values it may know are: never the values themselves. */
  secrets: variables(KeySchema).default({}),
  /** Megabytes it and all it starts may have. */
  memory_mb: z.int().min(128).max(10_240).default(STEP_LIMITS.memory_mb),
  /** What its role on AWS may do, and nothing else. */
  grants: z.array(GrantSchema).max(20).default([]),
  aws: FunctionSchema.prefault({}),
})
export type StepSettings = z.infer<typeof StepSchema>

/** `steps` in sluice.yaml: what steps and programs are given beside their inputs (docs/steps.md, "Settings"). */
export const StepsSettingsSchema = z
  .record(stepName, StepSchema)
  .refine((all) => Object.keys(all).length <= MOST_STEPS, `at most ${MOST_STEPS} steps`)

/** The part of the settings that steps are run by. */
export interface StepsSettings {
  readonly programs: Readonly<Record<string, ProgramSettings>>
  readonly steps: Readonly<Record<string, StepSettings>>
}

/** What a step is given, the defaults where the settings say nothing. */
export function settingsOfStep({ steps }: Pick<StepsSettings, 'steps'>, name: string): StepSettings {
  return (Object.hasOwn(steps, name) ? steps[name] : undefined) ?? StepSchema.parse({})
}

/** Megabytes that following a step takes beside the step itself. */
const FOLLOWING_MB = 256

/** Megabytes of its function on AWS. */
export function functionMemory({ aws, memory_mb }: Pick<StepSettings, 'aws' | 'memory_mb'>): number {
  return aws.memory_mb ?? Math.min(10_240, memory_mb + FOLLOWING_MB)
}

/** The ports of a program as they are checked with. */
export function portsOfSettings(ports: ProgramSettings['inputs']): StepPorts | undefined {
  if (ports === undefined) return undefined
  return Object.fromEntries(
    Object.entries(ports).map(([name, port]) => {
      if (typeof port === 'string') return [name, { type: port, required: true }]
      const { description, ...rest } = port
      return [name, description === undefined ? rest : { ...rest, description }]
    }),
  )
}
