import * as z from 'zod'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { Fault } from '../../shared/errors.ts'
import { arnVariable, environment, type FunctionEnvironment } from './core.ts'

/**
 * What a function reads of its environment. A value that is there must be well-formed; whether one has to be
 * there depends on the function, so what a port needs is asked for by `required` and `functionArn`.
 * Fault Bug bad_environment names the value, never its content.
 */
export function readEnvironment(env: NodeJS.ProcessEnv = environment): FunctionEnvironment {
  const parsed = EnvSchema.safeParse(env)
  if (!parsed.success) throw badSetting(parsed.error.issues[0])
  const named = FUNCTIONS.flatMap(({ name }) => {
    const arn = env[arnVariable(name)]
    return arn === undefined ? [] : [[name, parseArn(arnVariable(name), arn)] as const]
  })
  return { ...parsed.data, functions: Object.fromEntries(named) }
}

const ArnSchema = z
  .string()
  .regex(/^arn:aws[a-z-]*:[a-z0-9-]+:[a-z0-9-]*:\d{12}:[\w/:.@+=,*-]+$/, 'an ARN with a 12-digit account')

const EnvSchema = z.object({
  /** Part of every name of the deployment: `sluice-<stage>-..`. */
  STAGE: z.string().regex(/^[a-z][a-z0-9-]{0,19}$/, '1 to 20 of a-z, 0-9 and dashes, a letter first'),
  /** Set by Lambda itself. */
  AWS_REGION: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'a region such as eu-central-1'),
  TABLE: z.string().min(3).optional(),
  BUCKET: z.string().min(3).optional(),
  /** The bucket with Object Lock. */
  ANCHORS: z.string().min(3).optional(),
  /** What inline machines run as. */
  STATE_MACHINE_ROLE_ARN: ArnSchema.optional(),
  /** Where inline machines log (level ALL, without execution data); its ARN ends in `:*`. */
  MACHINE_LOG_GROUP_ARN: ArnSchema.optional(),
  SLUICE_LOG: z.enum(['info', 'error']).default('info'),
})

function parseArn(name: string, arn: string): string {
  const parsed = ArnSchema.safeParse(arn)
  if (parsed.success) return parsed.data
  throw badSetting({ path: [name], message: parsed.error.issues[0]?.message ?? '' })
}

function badSetting(issue: { readonly path: readonly PropertyKey[]; readonly message: string } | undefined): Fault {
  const name = String(issue?.path[0] ?? 'environment')
  const message = `Cannot start this function: environment value ${name} must be ${issue?.message ?? 'well-formed'}. Deploy again; values are written by infra/aws.`
  return new Fault('Bug', 'bad_environment', message, { facts: { setting: name } })
}
