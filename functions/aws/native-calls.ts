import { GetObjectCommand, PutObjectCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { Fault } from '../../shared/errors.ts'
import { taskFamily, taskFolder, taskRole } from '../../shared/steps/container-task.ts'
import { findContainer } from '../../shared/steps/native-calls.ts'
import { STEP_LIMITS } from '../../shared/steps/step-order.ts'
import { type ContainerLeft, type ContainerTask, holdsOneOf, type Steps } from '../../shared/steps/steps-port.ts'
import type { Json } from '../../shared/text/json.ts'
import { type Core, requiredVariable } from './core.ts'
import { openObjects } from './objects.ts'
import { openDescribedSteps } from './ports-without-sdk.ts'
import { CLIENT_OPTIONS, sdkFault } from './sdk.ts'

/**
 * The Steps port of run-block: it starts no step, and hands containers what they work with and takes what they left, in a
 * folder of the bucket that is theirs (docs/native-calls.md, "container").
 */
export function openCalls(core: Pick<Core, 'env' | 'settings' | 'secrets'>, config: S3ClientConfig = {}): Steps {
  const Bucket = requiredVariable(core.env, 'BUCKET')
  const client = new S3Client({ ...CLIENT_OPTIONS, ...config })
  const objects = openObjects(core, config)
  const put = async (Key: string, Body: Uint8Array | string) => {
    await client.send(new PutObjectCommand({ Bucket, Key, Body })).catch((error: unknown) => {
      throw sdkFault(error, { doing: 'hand a container what it works with', action: 's3:PutObject' })
    })
  }
  const read = async (Key: string, most: number): Promise<Uint8Array | undefined> => {
    try {
      const { Body, ContentLength = 0 } = await client.send(new GetObjectCommand({ Bucket, Key }))
      if (ContentLength <= most) return Body === undefined ? new Uint8Array() : await Body.transformToByteArray()
    } catch (error) {
      if (error instanceof Error && error.name === 'NoSuchKey') return undefined
      throw sdkFault(error, { doing: 'read what a container left', action: 's3:GetObject' })
    }
    const message = `Cannot take what the container left: ${Key.split('/').at(-1)} is larger than the ${most} bytes that are allowed.`
    throw new Fault('InvalidInput', 'step_answer', message)
  }
  return {
    ...openDescribedSteps(core),
    holdsSecret: async (texts) => holdsOneOf(await knownSecrets(core), texts),
    async task(task) {
      const folder = taskFolder(task)
      const files = filesOf(task)
      await put(`${folder}/input.json`, JSON.stringify(task.work))
      for (const [port, ref] of files) await put(`${folder}/files/${port}`, await objects.get(task.tenant, ref))
      return runTask(core, task, folder, files)
    },
    async collect(task) {
      const folder = taskFolder(task)
      const output = await read(`${folder}/output.json`, STEP_LIMITS.answer_bytes)
      if (output === undefined) return undefined
      const names = await read(`${folder}/artifacts.txt`, STEP_LIMITS.answer_bytes)
      const artifacts: ContainerLeft['artifacts'][number][] = []
      for (const name of artifactNames(names)) {
        const body = await read(`${folder}/artifacts/${name}`, STEP_LIMITS.artifact_bytes)
        if (body !== undefined) artifacts.push({ name, ...(await objects.put(task.tenant, body)) })
      }
      const stored_bytes = artifacts.reduce((sum, { bytes }) => sum + bytes, 0)
      return { output: Buffer.from(output).toString('utf8'), artifacts, stored_bytes }
    },
  }
}

/**
 * Keys of providers and services, which run-block may read; those of steps and containers are read by others alone. One that is
 * not there is nowhere else either.
 */
async function knownSecrets({ settings, secrets }: Pick<Core, 'settings' | 'secrets'>): Promise<readonly string[]> {
  const all = [...Object.values(settings.providers), ...Object.values(settings.services)]
  const arns = new Set(all.flatMap((one) => ('key' in one ? (one.key?.secret ?? []) : [])))
  const read = async (secret: string) => {
    try {
      return (await secrets?.read({ secret })) ?? ''
    } catch (error) {
      if (error instanceof Fault && error.name === 'NotFound') return ''
      throw error
    }
  }
  return Promise.all([...arns].map(read))
}

/** Inputs that name an object, by port. */
function filesOf({ work }: ContainerTask): readonly (readonly [string, string])[] {
  const { inputs = {} } = work as { readonly inputs?: Readonly<Record<string, Json>> }
  return Object.entries(inputs).flatMap(([port, value]) =>
    typeof value === 'string' && value.startsWith('objstore://') ? [[port, value] as const] : [],
  )
}

/** As steps name artifacts; what is named otherwise is left where it is. */
function artifactNames(list: Uint8Array | undefined): readonly string[] {
  const lines = Buffer.from(list ?? [])
    .toString('utf8')
    .split('\n')
  const names = lines.map((line) => line.replace(/^\.\//, ''))
  return names
    .filter((name) => /^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/.test(name) && !name.includes('..'))
    .slice(0, STEP_LIMITS.artifacts)
}

/** The parameters of ecs:runTask.sync. Fault InvalidInput unknown_container. */
function runTask(
  { env, settings }: Pick<Core, 'env' | 'settings'>,
  task: ContainerTask,
  folder: string,
  files: ReturnType<typeof filesOf>,
): Json {
  const made = findContainer(settings, task.name)
  const aws = 'found' in made ? made.found.aws : undefined
  if (aws === undefined || 'problem' in made) {
    const message = `Cannot run container "${task.name}": this deployment has no task of it. Name it in a document of the project and deploy.`
    throw new Fault('InvalidInput', 'unknown_container', message)
  }
  const where = { Name: 'SLUICE_FOLDER', Value: folder }
  const ports = { Name: 'SLUICE_FILES', Value: files.map(([port]) => port).join(' ') }
  const own = { Name: 'main', Environment: [{ Name: 'SLUICE_KEY', Value: task.key }] }
  const { command } = made.found
  const args = [...command, ...task.command_args]
  // A task runs in the account, and the region, of its cluster.
  const [, partition, , region = '', account] = aws.cluster.split(':')
  return {
    Cluster: aws.cluster,
    TaskDefinition: taskFamily(env.STAGE, task.name),
    LaunchType: 'FARGATE',
    NetworkConfiguration: {
      AwsvpcConfiguration: {
        Subnets: [...aws.subnets],
        SecurityGroups: [...aws.security_groups],
        AssignPublicIp: aws.public_ip ? 'ENABLED' : 'DISABLED',
      },
    },
    Overrides: {
      TaskRoleArn: `arn:${partition}:iam::${account}:role/${taskRole(env.STAGE, region, task)}`,
      ContainerOverrides: [
        { Name: 'fetch', Environment: [where, ports] },
        { ...own, ...(args.length === 0 ? {} : { Command: args }) },
        { Name: 'publish', Environment: [where] },
      ],
    },
  }
}
