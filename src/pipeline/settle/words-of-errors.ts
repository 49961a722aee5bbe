/** Common words of API errors. They reveal nothing of a request that contains them too. */
export const WORDS_OF_ERRORS: ReadonlySet<string> = new Set(
  `
  about above access account active after again allow allowed already also and another any api are argument array async
  attempt audio auth authentication available background bad balance base64 batch because been before began begin being
  below between billing block body both but bytes cached call calls can cannot capacity change chars characters chat
  check choice client closed code combination complete completed completion completions conflict connection contact contain
  contains content context conversation could count create created credentials credit currently data day days deadline
  decode default define defined denied deployment deprecated detail details did disabled document does doing done due
  duplicate during each effort either element embedding embeddings empty enable enabled encoding end endpoint ended ensure
  enough error errors exceed exceeded exceeds exist exists expected expired external extra fail failed failure feature field
  fields file files find first following for forbidden format found from full function gateway get give given greater
  group had has have header headers help high higher hour hours http image images include included incorrect index
  input inputs inside instead integer internal into invalid issue item items its json key keys kind large larger last
  later least length less like limit limited limits line list load loading long longer low lower make malformed many match
  max maximum may media message messages method min minimum minute minutes missing mode model models moderation more most
  much must name near need network never new not nothing null number object off offline once one only open operation
  option options order organization other our out output outputs over overloaded own parallel param parameter parameters
  parse part passed path pattern pdf per permission plan please policy position positive possible prefix previous problem
  process processing project prompt prompts property provide provided provider quota range rate reach reached read reason
  reasoning received reduce refused region reject rejected remove request requested requests required requires reset
  resource response responses result results retry return returned role roles safety same schema second seconds see send
  sent server service set shorter should size slow smaller some something specify specified start started state status
  still stop stream streaming string strings submit such support supported supports system temperature temporarily text
  than that the their them then there these they this those though through time timed timeout title to token tokens too
  tool tools top total trailing try turn two type types unable unauthorized unavailable unexpected unknown unprocessable
  unrecognized unsupported until update upgrade upstream url usage use used user uses using valid validation value values
  version very via video violates violation visit wait was way were what when where which while will with within without
  word words would wrong you your zero
  `
    .trim()
    .split(/\s+/),
)
