import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { EntryParts } from './entry.ts'
import { type LambdaContext, openInvocation } from './invocation.ts'
import type { RouteAnswer } from './lambda-answer.ts'
import { principalOf } from './principal.ts'
import { openWorld } from './world.ts'

/** What Lambda's Node runtime puts into the global scope for functions that stream. */
interface StreamRuntime {
  streamifyResponse(
    handler: (event: unknown, response: Writable, context: LambdaContext) => Promise<void>,
  ): (...given: never[]) => Promise<unknown>
  readonly HttpResponseStream: {
    from(
      response: Writable,
      head: { readonly statusCode: number; readonly headers: Readonly<Record<string, string>> },
    ): Writable
  }
}

/**
 * The entry of a route whose catalog line has `stream` (API Gateway response streaming, REST APIs): status and headers
 * first, then the body as it comes, pulled only as fast as the client reads. Ends quietly when the time is nearly over;
 * the client comes again with Last-Event-ID.
 */
export function streamEntry({ handler, ...parts }: EntryParts, env?: NodeJS.ProcessEnv) {
  const world = openWorld(parts, env)
  const runtime = requireRuntime()
  return runtime.streamifyResponse(async (event, response, context) => {
    const invocation = openInvocation(
      world,
      event,
      context,
      principalOf(event, world.settings.iam_tenants, world.settings.iam_people),
    )
    try {
      // Routes are made by functions/http-handler.ts, which answers this shape and never throws.
      const { statusCode, headers, body } = (await handler(invocation.event, invocation.context)) as RouteAnswer
      const out = runtime.HttpResponseStream.from(response, { statusCode, headers })
      await send(out, body, invocation.context.signal)
    } finally {
      invocation.end()
    }
  })
}

function requireRuntime(): StreamRuntime {
  const found = (globalThis as { readonly awslambda?: StreamRuntime }).awslambda
  if (found !== undefined) return found
  throw new Error('Cannot stream: this is not the Lambda runtime (there is no global awslambda).')
}

async function send(out: Writable, body: RouteAnswer['body'], signal: AbortSignal): Promise<void> {
  try {
    // Also an empty body is written: the head goes out with the first write.
    if (typeof body === 'string' || body instanceof Uint8Array) out.write(body)
    else for await (const chunk of body) if (!out.write(chunk)) await once(out, 'drain', { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    out.end()
  }
}
