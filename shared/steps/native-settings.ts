import * as z from 'zod'
import { STEP_PATH } from '../dag/handlers.ts'
import { CALL_NAME, CALL_NAME_RULE, CalledNameSchema } from '../dag/native-call.ts'
import { KeySchema } from '../ports/secrets.ts'
import type { Json } from '../text/json.ts'
import { findIntegration } from './integrations.ts'
import { GrantSchema, type StepsSettings, variables } from './settings.ts'

/** Functions, containers and resources of one call a place may name. */
const MOST_NAMED = 200

const atMost = <T extends z.ZodType>(schema: z.ZodRecord<z.ZodString, T>, what: string) =>
  schema.refine((all) => Object.keys(all).length <= MOST_NAMED, `at most ${MOST_NAMED} ${what}`)

const standIn = z.string().max(200).regex(STEP_PATH, './ and a path below the folder of sluice.yaml')

const FunctionSchema = z.strictObject({
  /** Of the function on AWS, of a version or alias of it where that is meant. */
  arn: z
    .string()
    .regex(
      /^arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:[\w-]{1,64}(:[\w$-]{1,128})?$/,
      'the ARN of a function, of one of its versions or aliases',
    )
    .optional(),
  /** What stands in for it in the local place; `aws`: it is called, with the rights of who runs the place. */
  local: z.union([z.literal('aws'), standIn]).optional(),
})

/** `functions` in sluice.yaml: what blocks of the handler `lambda` may call (docs/native-calls.md, "lambda"). */
export const FunctionsSettingsSchema = atMost(z.record(CalledNameSchema, FunctionSchema), 'functions')

const json = z.custom<Json>((value) => value !== undefined)

const ResourceSchema = z.strictObject({
  /** Parameters of the call that only this place says: the queue, the table, the task definition. */
  parameters: z
    .record(z.string().regex(/^[A-Z][A-Za-z0-9]{0,80}$/, 'the name of a parameter, like QueueUrl'), json)
    .default({}),
  /** Roles the service takes over for the work (ecs, batch): the machine may hand over these and no other. */
  pass_roles: z
    .array(z.string().regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/, 'the ARN of a role'))
    .max(10)
    .default([]),
  /** What the machine may do for it, where that is not made from the parameters. */
  grants: z.array(GrantSchema).max(20).default([]),
})
export type ResourceSettings = z.infer<typeof ResourceSchema>

const IntegrationSchema = z.strictObject({
  resources: atMost(z.record(CalledNameSchema, ResourceSchema), 'resources').default({}),
  /** Of a call that is of no resource. */
  grants: z.array(GrantSchema).max(20).default([]),
})

/** `integrations` in sluice.yaml: on what calls of the handler `aws` may work (docs/native-calls.md, "aws"). */
export const IntegrationsSettingsSchema = atMost(
  z.record(z.string().max(160).regex(CALL_NAME, CALL_NAME_RULE), IntegrationSchema),
  'calls',
).superRefine((all, context) => {
  for (const [call, { resources }] of Object.entries(all)) {
    for (const [name, { parameters }] of Object.entries(resources)) {
      const missing = findIntegration(call)?.names.find((key) => !Object.hasOwn(parameters, key))
      if (missing === undefined) continue
      const message = `it says not which one it is: add parameters: { ${missing}: .. }`
      context.addIssue({ code: 'custom', path: [call, 'resources', name], message })
    }
  }
})

/** Sizes of a task on Fargate, in units of a 1,024th of a core. Source: ECS developer guide, "Task size". */
const CPU = [256, 512, 1_024, 2_048, 4_096, 8_192, 16_384] as const

const TaskSchema = z.strictObject({
  cluster: z
    .string()
    .regex(/^arn:aws[a-z-]*:ecs:[a-z0-9-]+:\d{12}:cluster\/[\w-]{1,255}$/, 'the ARN of a cluster of ECS'),
  subnets: z
    .array(z.string().regex(/^subnet-[0-9a-f]{8,17}$/))
    .min(1)
    .max(16),
  security_groups: z
    .array(z.string().regex(/^sg-[0-9a-f]{8,17}$/))
    .max(5)
    .default([]),
  /** In a subnet without a way out to the registry it needs one. */
  public_ip: z.boolean().default(false),
  architecture: z.enum(['arm64', 'x86_64']).default('x86_64'),
  /** What brings its files and takes what it wrote: an image with a shell and the AWS CLI. */
  helper_image: z.string().min(1).max(500).default('public.ecr.aws/aws-cli/aws-cli:2.17.0'),
  /** Of the image, where its registry is one of this account (ECR). */
  repository: z
    .string()
    .regex(/^arn:aws[a-z-]*:ecr:[a-z0-9-]+:\d{12}:repository\/[\w./-]{1,256}$/, 'the ARN of a repository of ECR')
    .optional(),
})

const ContainerSchema = z.strictObject({
  image: z
    .string()
    .min(1)
    .max(500)
    .regex(/^[\w][\w.:/@-]*$/, 'the name of an image: REGISTRY/NAME:TAG, or @sha256:..'),
  /** Instead of the image's own; no shell reads it. */
  command: z.array(z.string().max(1_000)).max(50).default([]),
  env: variables(z.string().max(4_000)).default({}),
  secrets: variables(KeySchema).default({}),
  cpu: z.union(CPU.map((units) => z.literal(units))).default(256),
  memory_mb: z.int().min(512).max(122_880).default(512),
  /** It reaches nothing unless this is true (local place; on AWS security groups say so). */
  network: z.boolean().default(false),
  /** What its role on AWS may do, and nothing else. */
  grants: z.array(GrantSchema).max(20).default([]),
  aws: TaskSchema.optional(),
  /** What stands in for it in a local place that runs no containers. */
  local: standIn.optional(),
})
export type ContainerSettings = z.infer<typeof ContainerSchema>

/** `containers` in sluice.yaml: what blocks of the handler `container` may run (docs/native-calls.md, "container"). */
export const ContainersSettingsSchema = atMost(z.record(CalledNameSchema, ContainerSchema), 'containers')

/** What of the settings says what a document may name as its work: steps, programs, and what AWS does. */
export interface WorkSettings extends CallsSettings, StepsSettings {
  readonly container_engine?: string | undefined
}

/** The part of the settings that calls are made by. */
export interface CallsSettings {
  readonly functions: z.infer<typeof FunctionsSettingsSchema>
  readonly integrations: z.infer<typeof IntegrationsSettingsSchema>
  readonly containers: z.infer<typeof ContainersSettingsSchema>
}
