#!/usr/bin/env bash
# Networks outside the families of the synthetic generator, as YAML files: what the stated distance is calibrated on, and
# published networks over time.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/outside-networks.sh FOLDER

Writes outside_*.yaml into FOLDER, the same bytes every time: odd channel counts and image sizes, batches of 128 and
more, kernels of 9 and 31, dilated sequences, groups of 4 channels, graphs, recommenders, MLPs of a few hundred MACs,
unrolled recurrences. Of the families of `synthetic:N` only `mixed` has layers like some of these, one by one.

And speech_*.yaml into FOLDER/speech: four published networks over time, as those of the family `signal` or near to them.
TEXT
}

case ${1:-} in
  "" | -h | --help) usage; [ $# -gt 0 ] || exit 2; exit 0 ;;
esac
folder=$1 prefix=outside
mkdir -p "$folder/speech"

# network NAME BATCH DESCRIPTION: starts the file that `layer` and `dense` add to.
network() {
  file=$folder/${prefix}_$1.yaml
  printf 'format: 1\nname: '"$prefix"'_%s\ndescription: "%s"\nbatch: %d\nlayers:\n' "$1" "$3" "$2" > "$file"
  number=0
}
# layer TYPE, KEYS...: one line of the list.
layer() {
  number=$((number + 1))
  printf '  - {name: l%d, type: %s}\n' "$number" "$1" >> "$file"
}
# dense ROWS WIDTH...: fully connected layers from each width to the next.
dense() {
  local rows=$1 from=$2 to
  for to in "${@:3}"; do
    layer "fully_connected, rows: $rows, reduction: $from, columns: $to"
    from=$to
  done
}
# chain HEIGHT WIDTH KERNEL CHANNELS...: convolutions of stride 1 from each number of channels to the next.
chain() {
  local from=$4 to
  for to in "${@:5}"; do
    layer "convolution, in: [$1, $2, $from], out: $to, kernel: $3, pad: same"
    from=$to
  done
}

network odd_channels 1 "convolutions of prime channel counts over a 131 x 97 image"
chain 131 97 3 5 37 53
chain 65 49 3 53 71 89 107
chain 33 25 3 107 139 173 211

network wide_channels 1 "convolutions three times as wide as those that the families of images start with"
chain 28 28 3 480 720 720 1080
chain 14 14 3 1080 2160 2160

network batched_vision 256 "a small image classifier at batch 256"
chain 32 32 3 3 24 24 48
chain 16 16 3 48 96 96
dense 1 1536 10

network batched_mlp 1024 "a classifier of flat images at batch 1024"
dense 1 784 300 100 10

network batched_recommender 128 "towers of a recommender at batch 128, and their pairwise products"
dense 1 13 512 256 64
layer "matmul, rows: 27, reduction: 64, columns: 27"
dense 1 415 1024 1024 512 256 1

network tiny_mlp 1 "four inputs, three classes"
dense 1 4 10 10 3

network tiny_rows 1 "a regression of seven numbers over 33 rows"
dense 33 7 13 11 1

network one_layer 1 "one product of a row"
dense 1 1000 1

network unrolled_rnn 1 "an Elman network of 57 units over 300 steps, every step a layer that reads its weights again"
layer "fully_connected, repeat: 300, rows: 1, reduction: 88, columns: 57"
dense 1 57 11

network unrolled_gru 1 "gates of 200 units over 40 steps of 2 layers, every step a layer that reads its weights again"
layer "fully_connected, repeat: 40, rows: 1, reduction: 240, columns: 600"
layer "fully_connected, repeat: 40, rows: 1, reduction: 400, columns: 600"
dense 1 200 29

network dilated_audio 1 "dilated convolutions over one second of sound at 16 kHz"
layer "convolution, in: [1, 16000, 1], out: 32, kernel: [1, 2], pad: same"
for dilation in 2 4 8 16 32 64 128 256; do
  layer "convolution, in: [1, 16000, 32], out: 64, kernel: [1, 2], dilation: [1, $dilation], pad: same"
  layer "convolution, in: [1, 16000, 32], out: 32"
done
chain 1 16000 1 32 128 256

network large_kernels 1 "depthwise kernels of 31 x 31 between pointwise layers"
for _ in 1 2 3; do
  layer "convolution, in: [56, 56, 96], out: 96"
  layer "depthwise_convolution, in: [56, 56, 96], kernel: 31, pad: same"
  layer "convolution, in: [56, 56, 96], out: 96"
done

network grouped 1 "residual blocks of 32 groups of 4 to 16 channels"
for size in "56 128 256" "28 256 512" "14 512 1024"; do
  read -r side inner outer <<< "$size"
  layer "convolution, in: [$side, $side, $outer], out: $inner"
  layer "convolution, in: [$side, $side, $inner], out: $inner, kernel: 3, pad: 1, groups: 32"
  layer "convolution, in: [$side, $side, $inner], out: $outer"
done

network super_resolution 1 "a video frame of 720 x 1280 in few channels, twice as large on its way out"
layer "convolution, in: [720, 1280, 1], out: 56, kernel: 5, pad: same"
layer "convolution, in: [720, 1280, 56], out: 12"
chain 720 1280 3 12 12 12 12 12
layer "convolution, in: [720, 1280, 12], out: 56"
layer "transposed_convolution, in: [720, 1280, 56], out: 1, kernel: 9, stride: 2, pad: [4, 3, 4, 3]"

network graph 1 "two graph convolutions over 2708 nodes"
dense 2708 1433 16
layer "matmul, rows: 2708, reduction: 2708, columns: 16"
dense 2708 16 7
layer "matmul, rows: 2708, reduction: 2708, columns: 7"

network mixer 1 "products over tokens and over channels in turn"
layer "convolution, in: [224, 224, 3], out: 512, kernel: 32, stride: 32"
for _ in 1 2 3 4; do
  dense 512 49 256 49
  dense 49 512 2048 512
done

network lenet 1 "digits of 28 x 28"
layer "convolution, in: [28, 28, 1], out: 6, kernel: 5, pad: same"
layer "convolution, in: [14, 14, 6], out: 16, kernel: 5"
dense 1 400 120 84 10

folder=$folder/speech prefix=speech
# steps FROM CHANNELS OUT KERNEL STRIDE: a convolution over time.
steps() { layer "convolution, in: [1, $1, $2], out: $3, kernel: [1, $4], stride: [1, $5], pad: same"; }

network wav2letter 1 "letters of 296 windows of 39 features (Collobert et al. 2016, in the sizes of Arm's model zoo)"
steps 296 39 250 48 2
for _ in 1 2 3 4 5 6 7; do steps 148 250 250 7 1; done
steps 148 250 2000 32 1
steps 148 2000 2000 1 1
steps 148 2000 29 1 1

network tc_resnet8 1 "twelve keywords in one second (Choi et al. 2019, TC-ResNet8)"
steps 98 40 16 3 1
for size in "98 16 24 49" "49 24 32 25" "25 32 48 13"; do
  read -r from inner outer to <<< "$size"
  steps "$from" "$inner" "$outer" 9 2
  steps "$to" "$outer" "$outer" 9 1
  steps "$from" "$inner" "$outer" 1 2
done
dense 1 48 12

network conv_tasnet 1 "two speakers in four seconds of 8 kHz (Luo and Mesgarani 2019, three times 8 blocks)"
steps 32000 1 512 16 8
steps 4000 512 128 1 1
for _ in {1..24}; do
  steps 4000 128 512 1 1
  layer "depthwise_convolution, in: [1, 4000, 512], kernel: [1, 3], pad: same"
  steps 4000 512 128 1 1
done
steps 4000 128 1024 1 1

network wav2vec2 1 "one second of 16 kHz in 49 tokens (Baevski et al. 2020, base)"
from=16000 channels=1
for size in "10 5" "3 2" "3 2" "3 2" "3 2" "2 2" "2 2"; do
  read -r kernel stride <<< "$size"
  layer "convolution, in: [1, $from, $channels], out: 512, kernel: [1, $kernel], stride: [1, $stride]"
  from=$(((from - kernel) / stride + 1)) channels=512
done
dense 49 512 768
layer "convolution, in: [1, 49, 768], out: 768, kernel: [1, 128], groups: 16, pad: same"
for _ in {1..12}; do
  layer "fully_connected, repeat: 4, rows: 49, reduction: 768, columns: 768"
  layer "attention, heads: 12, query_length: 49, head_dim: 64"
  dense 49 768 3072 768
done
