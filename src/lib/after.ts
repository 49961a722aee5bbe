/** Goes on with a result: at once if it is there, else when it has come. Waiting for what is there costs a call more than
 *  most of what is done with it. */
export function after<Result, Next>(
  result: Result | Promise<Result>,
  next: (result: Result) => Next | Promise<Next>,
): Next | Promise<Next> {
  return result instanceof Promise ? result.then(next) : next(result)
}
