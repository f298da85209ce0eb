import { createHash, createHmac } from 'node:crypto'
import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { SignatureV4 } from '@smithy/signature-v4'
import { Refused, usageError } from '../terminal/refused.ts'
import type { Executions } from './aws-account.ts'
import { type AwsCaller, awsCaller, type CallerOptions } from './aws-caller.ts'
import { awsRefusal } from './aws-refusal.ts'

interface SignedOptions extends CallerOptions {
  readonly stack?: string | undefined
  /** Instead of a stack. */
  readonly url?: string | undefined
}

/** A deployment whose API is called with the AWS credentials of whoever runs the command. */
export interface SignedTarget {
  readonly url: string
  readonly sign: Sign
  /** What finds it again on another command line, for example ` --stack dev`. */
  readonly words: string
  /** Of its account, asked with the same credentials. */
  executions(): Promise<Executions>
}

/** Finds the deployment; only a stack's name costs a call. */
export async function openSignedTarget({ stack, url, profile, region }: SignedOptions): Promise<SignedTarget> {
  const caller = awsCaller({ profile, region: region ?? regionOf(url) })
  const found = stack === undefined ? url : await stackUrl(stack, caller)
  if (found === undefined) {
    throw usageError('Cannot sign for no deployment: name it with --stack, or its address with --url or SLUICE_URL.')
  }
  const named = { stack, url: stack === undefined ? url : undefined, profile, region }
  const words = Object.entries(named).map(([name, value]) => (value === undefined ? '' : ` --${name} ${value}`))
  const executions = async () => (await import('./aws-account.ts')).fetchConcurrency(caller)
  return { url: found.replace(/\/+$/, ''), sign: createSign(caller), words: words.join(''), executions }
}

/** API Gateway's own addresses say their region. */
const GATEWAY = /^https:\/\/[a-z0-9]+\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?(\/|$)/

function regionOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : GATEWAY.exec(url)?.[1]
}

/** The address of a deployment's API, out of the outputs of its stack (infra/aws/api-stack.ts writes it as `Url`). */
async function stackUrl(name: string, { cloudFormation }: AwsCaller): Promise<string> {
  const stack = stackName(name)
  const found = await cloudFormation.send(new DescribeStacksCommand({ StackName: stack })).catch((error: unknown) => {
    throw /does not exist/.test(String(error)) ? noStack(stack) : awsRefusal(error)
  })
  const outputs = found.Stacks?.[0]?.Outputs ?? []
  const url = outputs.find(({ OutputKey }) => OutputKey === 'Url')?.OutputValue
  if (url !== undefined) return url.replace(/\/+$/, '')
  const seen = outputs.map(({ OutputKey }) => OutputKey).join(', ') || 'none'
  const detail = `Stack "${stack}" has no output Url (its outputs: ${seen}). Name the stack of the API: sluice-STAGE-api, or just STAGE.`
  throw new Refused({ code: 'stack_without_url', detail })
}

/** A stage is enough; its names are those of infra/aws/build-app.ts. */
function stackName(name: string): string {
  return /^[a-z0-9]{1,12}$/.test(name) ? `sluice-${name}-api` : name
}

function noStack(stack: string): Refused {
  const detail = `There is no stack "${stack}" in this account and region. \`aws cloudformation list-stacks\` shows what is there; --profile and --region choose another place.`
  return new Refused({ code: 'stack_not_found', detail })
}

interface Unsigned {
  readonly method: string
  readonly url: string
  readonly body?: string | Uint8Array | undefined
}

/** The request to send: its headers must be there, its URL must be taken as it stands. */
interface Signed {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export type Sign = (request: Unsigned) => Promise<Signed>

/**
 * Signs requests to API Gateway as its callers do (Signature Version 4, service execute-api). The body is part of the
 * signature, so it has to be known whole. Credentials are asked for at each request: those of a role end and are renewed.
 */
function createSign({ credentials, region }: AwsCaller): Sign {
  // `new` of a function answers the object the function answers; its type cannot say so.
  const Sha256 = sha256 as unknown as Sha256Constructor
  const signer = new SignatureV4({ service: 'execute-api', region, credentials, sha256: Sha256 })
  return async ({ method, url, body }) => {
    const { protocol, hostname, host, port, pathname, searchParams } = new URL(url)
    const query = queryOf(searchParams)
    const { headers } = await signer.sign({
      method,
      protocol,
      hostname,
      ...(port !== '' && { port: Number(port) }),
      path: pathname,
      query,
      headers: { host },
      body,
    })
    // fetch() writes Host itself, and the same.
    const { host: _host, ...others } = headers
    return { url: `${protocol}//${host}${pathname}${searchText(query)}`, headers: others }
  }
}

function queryOf(params: URLSearchParams): Record<string, string[]> {
  return Object.fromEntries([...new Set(params.keys())].map((name) => [name, params.getAll(name)]))
}

/** Spaces as %20: what is signed has no `+`, and so must what is sent. */
function searchText(query: Readonly<Record<string, readonly string[]>>): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    values.map((value) => `${strict(name)}=${strict(value)}`),
  )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** RFC 3986: what encodeURIComponent leaves as it is and a signature does not. */
function strict(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

type Sha256Constructor = ConstructorParameters<typeof SignatureV4>[0]['sha256']
type Bytes = string | ArrayBuffer | ArrayBufferView

/** Node's own SHA-256, with a secret HMAC. The signer calls it with `new`: a function that answers an object will do. */
function sha256(secret?: Bytes) {
  const hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
  return {
    update: (data: Bytes) => void hash.update(bytesOf(data)),
    digest: () => Promise.resolve(new Uint8Array(hash.digest())),
  }
}

function bytesOf(data: Bytes): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data)
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data)
}
