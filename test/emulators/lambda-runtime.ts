import { PassThrough, Writable } from 'node:stream'
import type { LambdaContext } from '../../functions/aws/invocation.ts'

/** What a streaming function sent: the head API Gateway reads, then chunks as they came. */
export interface StreamedAnswer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly chunks: AsyncIterable<string>
}

type Streaming = (event: unknown, response: Writable, context: LambdaContext) => Promise<void>

/**
 * Puts `awslambda` into the global scope as Lambda's Node runtime does, before a streaming bundle is loaded; answers how
 * to call such a handler as API Gateway would (InvokeWithResponseStream). The prelude (head, eight zero bytes) is kept
 * apart instead of on the wire.
 */
export function installLambdaRuntime() {
  const heads = new WeakMap<Writable, { statusCode: number; headers: Record<string, string> }>()
  const awslambda = {
    streamifyResponse: (handler: Streaming) => handler,
    HttpResponseStream: {
      from(response: Writable, head: { statusCode: number; headers: Record<string, string> }): Writable {
        heads.set(response, head)
        return response
      },
    },
  }
  Object.assign(globalThis, { awslambda })
  return {
    /** Resolves when the head is there; rejects when the function fails before. */
    async call(handler: unknown, event: unknown, context: LambdaContext): Promise<StreamedAnswer> {
      const pipe = new PassThrough({ encoding: 'utf8' })
      const first = Promise.withResolvers<void>()
      const response = new Writable({
        decodeStrings: false,
        write(chunk, _encoding, done) {
          first.resolve()
          if (pipe.write(chunk)) done()
          else pipe.once('drain', done)
        },
        final(done) {
          pipe.end(done)
        },
      })
      const running = (handler as Streaming)(event, response, context)
      running.catch((error: Error) => {
        first.reject(error)
        pipe.destroy(error)
      })
      await first.promise
      const head = heads.get(response) ?? { statusCode: 200, headers: {} }
      return { ...head, chunks: pipe }
    },
  }
}
